/** What the host takes longer for than this must not hold a result. */
const HOST_PATIENCE_MS = 30_000;

/** Resolves with the act, or when the host has had its time for it. Its failure is its own. */
export async function withTimeout(act: Promise<unknown>, ms = HOST_PATIENCE_MS): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([act.catch(() => {}), late]);
  clearTimeout(timer);
}
