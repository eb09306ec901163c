import { isListed } from "./allowlist.ts";
import type { Withheld } from "./denylist.ts";
import type { Findings, InheritedEnv } from "./inherited.ts";
import type { EnvSource } from "./own-pod.ts";

/** Variables that stay behind, by the reason. */
export class LeftVariables {
  readonly notListed: string[] = [];
  readonly withheld: (Withheld & { readonly name: string })[] = [];
  /** In objects of another namespace than the run's. */
  readonly elsewhere: string[] = [];
  readonly sources: EnvSource[] = [];
  readonly unreachable: string[] = [];
  readonly unresolved: string[] = [];
}

/** Names only, never values. A warning where somebody will miss one. */
export function tellEnv(findings: Findings, env: InheritedEnv, left: LeftVariables): void {
  const say = (lines: string[], what: string, names: readonly string[]) => {
    if (names.length > 0) lines.push(`${what}: ${[...names].sort().join(", ")}`);
  };
  const { notes, warnings } = findings;
  const missed = left.withheld.filter(({ kind, name }) => kind === "credential" && isListed(name));
  const withReason = (variables: typeof missed) => variables.map(({ name, why }) => `${name} (${why})`);
  say(notes, "environment of the server's pod taken", [...Object.keys(env.literals), ...env.references.map(({ name }) => name)]);
  say(notes, "environment taken whole", env.from.map(sourceName));
  say(notes, "set empty, as a whole object cannot be taken without them", env.hidden);
  say(notes, "environment left with the server, not listed", left.notListed);
  say(notes, "environment left with the server", withReason(left.withheld.filter((each) => !missed.includes(each))));
  say(warnings, "environment left with the server; to give it to agents, name it in inheritNames or set it in env", withReason(missed));
  say(warnings, "environment not taken: it is in Secrets or ConfigMaps of the server's namespace; set it in env", [
    ...left.elsewhere,
    ...left.sources.map(sourceName),
  ]);
  say(warnings, "environment not taken: it names files on volumes that runs do not have", left.unreachable);
  say(warnings, "environment not taken: it is made of other variables that are not known here; set it in env", left.unresolved);
}

const sourceName = ({ kind, name }: EnvSource): string => `${kind === "secret" ? "Secret" : "ConfigMap"} ${name}`;
