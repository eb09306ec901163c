/** What the kubelet makes of a text: `$(NAME)` becomes a value, `$$` a dollar; names it does not know stay as they are. */
export function expand(
  text: string,
  lookUp: (name: string) => string | undefined,
): { readonly text: string; readonly unknown: readonly string[] } {
  const unknown: string[] = [];
  const expanded = text.replace(/\$\$|\$\(([^)]*)\)/g, (whole, name: string | undefined) => {
    if (name === undefined) return "$";
    const value = lookUp(name);
    if (value === undefined) unknown.push(name);
    return value ?? whole;
  });
  return { text: expanded, unknown };
}
