// What a server that is not root would do, from tests that are.
export const isRoot = process.geteuid?.() === 0;

export async function asUser<T>(id: number, work: () => Promise<T>): Promise<T> {
  process.setegid?.(id);
  process.seteuid?.(id);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}
