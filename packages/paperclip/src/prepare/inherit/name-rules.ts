import type { CliVariables } from "../../agent-cli/agent-cli.ts";
import { COMMON_ALLOWLIST } from "./allowlist.ts";
import { type Denied, denied, isOpen, matches } from "./denylist.ts";
import type { InheritSettings } from "./inherited.ts";

type Decision = "take" | "not-allowed" | Denied;

export type NameRules = ReturnType<typeof nameRules>;

/** Which of the server's variables a run may have. `given`: every name the server has. */
export function nameRules(settings: Pick<InheritSettings, "inherit" | "inheritNames">, variables: CliVariables, given: Iterable<string>) {
  const { inherit, inheritNames } = settings;
  const names = [...new Set(given)];
  const isAllowed = (name: string): boolean => matches(name, COMMON_ALLOWLIST) || matches(name, variables.allowlist);
  const isHostSecret = (name: string): boolean => denied(name, names, variables)?.kind === "secret";
  /** A secret of the host is not given away, even when it is named. */
  const decide = (name: string): Decision => {
    const named = inheritNames.includes(name);
    const why = denied(name, names, variables);
    if (why !== null && (why.kind === "secret" || !named)) return why;
    return named || inherit === "all" || isAllowed(name) || matches(name, inheritNames) ? "take" : "not-allowed";
  };
  return { names, isAllowed, isHostSecret, decide };
}

/** Which names and beginnings of names an agent may ask for although no policy lists them: it gets no more by that than it has anyway. */
export function builtInNames(variables: CliVariables, env: NodeJS.ProcessEnv): (name: string) => boolean {
  const rules = nameRules({ inherit: "listed", inheritNames: [] }, variables, Object.keys(env));
  const open = [...COMMON_ALLOWLIST, ...variables.allowlist].filter(isOpen);
  return (name) => (isOpen(name) ? open.some((pattern) => name.startsWith(pattern.slice(0, -1))) : rules.decide(name) === "take");
}

/** Of the server's own variables, those that reach a model or a network and that any run may have: for programs that the server starts itself. */
export function allowedEnv(env: NodeJS.ProcessEnv, variables: CliVariables): Record<string, string> {
  const rules = nameRules({ inherit: "listed", inheritNames: [] }, variables, Object.keys(env));
  const allowed = rules.names.filter((name) => rules.decide(name) === "take");
  return Object.fromEntries(allowed.map((name) => [name, env[name] ?? ""]));
}
