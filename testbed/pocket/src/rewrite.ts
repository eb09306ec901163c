/** A path as the container would see it, and where it really is. */
export interface Mapping {
  readonly inside: string;
  readonly outside: string;
}

// Pods share this machine's file system, so strings that name a mounted path are pointed at the folder behind it.
export function rewrite(text: string, mappings: readonly Mapping[]): string {
  const longestFirst = [...mappings].sort((a, b) => b.inside.length - a.inside.length);
  for (const { inside, outside } of longestFirst) {
    if (text === inside) return outside;
    if (text.startsWith(`${inside}/`)) return outside + text.slice(inside.length);
  }
  return text;
}
