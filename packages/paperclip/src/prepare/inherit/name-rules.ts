import type { CliVariables } from "../../agent-cli/agent-cli.ts";
import { COMMON_ALLOWLIST } from "./allowlist.ts";
import { type Denied, denied, matches } from "./denylist.ts";
import type { InheritSettings } from "./inherited.ts";

export type Decision = "take" | "not-allowed" | Denied;

/** Which of the server's variables a run may have. */
export class NameRules {
  readonly #settings: Pick<InheritSettings, "inherit" | "inheritNames">;
  readonly #variables: CliVariables;
  /** Every name the server has. */
  readonly names: readonly string[];

  constructor(settings: Pick<InheritSettings, "inherit" | "inheritNames">, variables: CliVariables, names: Iterable<string>) {
    this.#settings = settings;
    this.#variables = variables;
    this.names = [...new Set(names)];
  }

  /** A secret of the host is not given away, even when it is named. */
  decide(name: string): Decision {
    const { inherit, inheritNames } = this.#settings;
    const named = inheritNames.includes(name);
    const why = denied(name, this.names, this.#variables);
    if (why !== null && (why.kind === "secret" || !named)) return why;
    return named || inherit === "all" || this.isAllowed(name) || matches(name, inheritNames) ? "take" : "not-allowed";
  }

  isAllowed(name: string): boolean {
    return matches(name, COMMON_ALLOWLIST) || matches(name, this.#variables.allowlist);
  }

  isHostSecret(name: string): boolean {
    return denied(name, this.names, this.#variables)?.kind === "secret";
  }
}

/** Of the server's own variables, those that reach a model or a network and that any run may have: for programs that the server starts itself. */
export function allowedEnv(env: NodeJS.ProcessEnv, variables: CliVariables): Record<string, string> {
  const rules = new NameRules({ inherit: "listed", inheritNames: [] }, variables, Object.keys(env));
  const allowed = rules.names.filter((name) => rules.decide(name) === "take");
  return Object.fromEntries(allowed.map((name) => [name, env[name] ?? ""]));
}
