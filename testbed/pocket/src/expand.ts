// Kubernetes' own rule for "$(NAME)": known names are replaced, unknown ones stay, "$$" is one "$" and takes the next character out of play.
export function expand(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (whole, name: string | undefined) => {
    if (name === undefined) return "$";
    return values.get(name) ?? whole;
  });
}
