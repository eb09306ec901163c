/** Kubernetes expands `$(NAME)` and halves `$$` in env values, commands and arguments: doubling every `$` keeps the text as it is. */
export function escapeDollars(text: string): string {
  return text.replaceAll("$", "$$$$");
}
