import type { EnvSource, RunEnv } from "../request.ts";

/** A plain value wins over a reference of its name; the runner sets the secret ones itself, over all of these. */
export function envEntries(env: RunEnv): Record<string, unknown>[] {
  const literals = Object.entries(env.plain).map(([name, value]) => ({ name, value: escapeDollars(value) }));
  const hidden = (env.hidden ?? []).filter((name) => !Object.hasOwn(env.plain, name));
  const taken = new Set([...Object.keys(env.plain), ...Object.keys(env.secret), ...hidden]);
  const references = env.references.filter((reference) => !taken.has(reference.name));
  return [...references.map((reference) => ({ ...reference })), ...hidden.map((name) => ({ name, value: "" })), ...literals];
}

export function envSources(sources: readonly EnvSource[]): Record<string, unknown>[] {
  return sources.map(({ kind, name, prefix, optional }) => ({
    [kind === "secret" ? "secretRef" : "configMapRef"]: { name, ...(optional ? { optional } : {}) },
    ...(prefix === "" ? {} : { prefix }),
  }));
}

/** Kubernetes expands `$(NAME)` and halves `$$` in env values, commands and arguments: doubling every `$` keeps the text as it is. */
export function escapeDollars(text: string): string {
  return text.replaceAll("$", "$$$$");
}
