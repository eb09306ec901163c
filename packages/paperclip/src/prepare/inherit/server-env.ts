import { isListed } from "./allowlist.ts";
import { type Withheld, withheld } from "./denylist.ts";
import { expand } from "./expand.ts";
import type { InheritSettings } from "./inherited.ts";
import { type Mount, mountsNamedBy, mountsOf } from "./mounts.ts";
import { matches } from "./name-patterns.ts";
import type { EnvReference, OwnPod } from "./own-pod.ts";

export type Verdict = "take" | "not-listed" | Withheld;

export type Variable =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly unresolved: readonly string[] }
  | EnvReference;

/** The server's environment as its pod's spec and its own process tell it. */
export class ServerEnv {
  readonly pod: OwnPod;
  readonly mounts: readonly Mount[];
  /** Every name the server has. */
  readonly names: readonly string[];
  readonly #settings: InheritSettings;
  readonly #process: NodeJS.ProcessEnv;

  constructor(pod: OwnPod, settings: InheritSettings, process: NodeJS.ProcessEnv) {
    this.pod = pod;
    this.#settings = settings;
    this.#process = process;
    this.mounts = mountsOf(pod);
    this.names = [...new Set([...pod.env.map(({ name }) => name), ...Object.keys(process)])];
  }

  /** May a run have it? A secret of the host not even by name. */
  verdict(name: string): Verdict {
    const { inherit, inheritNames } = this.#settings;
    const named = inheritNames.includes(name);
    const held = withheld(name, this.names);
    if (held !== null && (held.kind === "secret" || !named)) return held;
    return named || inherit === "all" || isListed(name) || matches(name, inheritNames) ? "take" : "not-listed";
  }

  /** What the spec sets one by one; of two with a name the later counts. */
  spelledOut(): Variable[] {
    const last = new Map(this.pod.env.map((entry) => [entry.name, entry]));
    return [...last.values()].map((entry) => ("value" in entry ? this.#literal(entry) : entry));
  }

  /** Values that may have come with whole Secrets or ConfigMaps: only the process knows which. */
  broughtAlong(): Variable[] {
    const own = new Set(this.pod.env.map(({ name }) => name));
    if (this.pod.envFrom.length === 0) return [];
    return Object.entries(this.#process).flatMap(([name, value]) => (value === undefined || own.has(name) ? [] : [{ name, value }]));
  }

  valueOf(variable: Variable): string {
    return ("value" in variable ? variable.value : this.#process[variable.name]) ?? "";
  }

  /** Mounts that hold the host's own secrets, by the variables that point there. */
  secretMounts(): Set<Mount> {
    const secrets = [...this.spelledOut(), ...this.broughtAlong()].filter(({ name }) => withheld(name, this.names)?.kind === "secret");
    return new Set(secrets.flatMap((variable) => mountsNamedBy(this.valueOf(variable), this.mounts).on));
  }

  /** The process has what the kubelet made of `$(NAME)`; without it the other literals may do. */
  #literal({ name, value }: { readonly name: string; readonly value: string }): Variable {
    if (!value.includes("$")) return { name, value };
    const made = this.#process[name];
    if (made !== undefined) return { name, value: made };
    const literals = new Map(this.pod.env.map((entry) => [entry.name, "value" in entry ? entry.value : undefined]));
    const { text, unknown } = expand(value, (other) => (literals.get(other)?.includes("$") ? undefined : literals.get(other)));
    const elsewhere = unknown.filter((other) => literals.has(other) || this.pod.envFrom.length > 0);
    return elsewhere.length === 0 ? { name, value: text } : { name, unresolved: elsewhere };
  }
}
