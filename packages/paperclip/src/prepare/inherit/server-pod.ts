import type { EnvReference, OwnPod } from "@paperclip-k8s/engine";
import type { InheritFacts, InheritSettings } from "./inherited.ts";
import { type Mount, mountsNamedBy, mountsOf } from "./mounts.ts";
import { type NameRules, nameRules } from "./name-rules.ts";

/** A variable of the server's container: its value (null = not known here), or a reference that the kubelet resolves. */
export type Variable = { readonly name: string; readonly value: string | null } | EnvReference;

/** The server's container as its pod's spec and its own process describe it. */
export class ServerPod {
  readonly pod: OwnPod;
  readonly rules: NameRules;
  readonly mounts: readonly Mount[];
  /** Variables that the spec sets one by one. */
  readonly spelledOut: readonly Variable[];
  /** Variables that may have come with whole Secrets or ConfigMaps: only the process knows which. */
  readonly fromWholeObjects: readonly Variable[];
  /** Mounts that hold the host's own secrets, by the variables that point there. */
  readonly secretMounts: ReadonlySet<Mount>;
  readonly #env: NodeJS.ProcessEnv;

  constructor(pod: OwnPod, settings: InheritSettings, { variables, env = {} }: InheritFacts) {
    const own = new Map(pod.env.map((entry) => [entry.name, entry]));
    this.#env = env;
    this.pod = pod;
    this.mounts = mountsOf(pod);
    this.rules = nameRules(settings, variables, [...own.keys(), ...Object.keys(env)]);
    this.spelledOut = [...own.values()].map((entry) => ("value" in entry ? { name: entry.name, value: this.#literal(entry) } : entry));
    this.fromWholeObjects =
      pod.envFrom.length === 0 ? [] : Object.entries(env).flatMap(([name, value = ""]) => (own.has(name) ? [] : [{ name, value }]));
    const secrets = [...this.spelledOut, ...this.fromWholeObjects].filter(({ name }) => this.rules.isHostSecret(name));
    this.secretMounts = new Set(secrets.flatMap((variable) => this.mountsNamedBy(variable).on));
  }

  mountsNamedBy(variable: Variable): ReturnType<typeof mountsNamedBy> {
    return mountsNamedBy(("value" in variable ? variable.value : this.#env[variable.name]) ?? "", this.mounts);
  }

  /** What a reference to a Secret or ConfigMap stands for, as this process has it; the variable itself where that is not known. */
  withValue(variable: Variable): Variable {
    const value = this.#env[variable.name];
    const isObject = "valueFrom" in variable && ("secretKeyRef" in variable.valueFrom || "configMapKeyRef" in variable.valueFrom);
    return isObject && value !== undefined ? { name: variable.name, value } : variable;
  }

  /** The kubelet expands `$(NAME)`, so for a text with `$` the value is taken from the process. */
  #literal({ name, value }: { readonly name: string; readonly value: string }): string | null {
    return value.includes("$") ? (this.#env[name] ?? null) : value;
  }
}
