import { type ConnectOptions, type LookUp, lookUp, type ObjectName } from "@paperclip-k8s/engine";
import { allows } from "../../policy/patterns.ts";
import type { Policy } from "../../policy/policy.ts";

type Kind = ObjectName["kind"];

/**
 * Which objects a run has of those that the server's pod names. `own`: the same ones. `same-names`: those of the same names in another
 * namespace. `none`: what has the same name there may be somebody else's.
 */
type Reach = "own" | "same-names" | "none";

const LABELS: Readonly<Record<Kind, string>> = { claim: "claim", secret: "Secret", configMap: "ConfigMap" };

/** "Secret keys" */
export const objectLabel = (kind: Kind, name: string): string => `${LABELS[kind]} ${name}`;

/** The objects that the server's pod names, as a run finds them in its own namespace. */
export class RunObjects {
  readonly reach: Reach;
  readonly #look: (kind: Kind, name: string) => LookUp;
  readonly #taken = new Map<string, LookUp>();

  constructor(reach: Reach, look: (kind: Kind, name: string) => LookUp) {
    this.reach = reach;
    this.#look = look;
  }

  state(kind: Kind, name: string): LookUp["state"] {
    return this.#look(kind, name).state;
  }

  /** Whether a run can have it: it is there, or it could not be looked at and is taken by name. */
  take(kind: Kind, name: string): boolean {
    const found = this.#look(kind, name);
    if (found.state === "missing") return false;
    this.#taken.set(objectLabel(kind, name), found);
    return true;
  }

  /** Why `take` said no, and what to do. */
  get whyNot(): string {
    return this.reach === "none"
      ? "the run's namespace has none of the server's objects; if objects of the same names are there, list it in allow.sameNames of the operator's policy"
      : "the run's namespace has none of that name; make them there";
  }

  /** For the log: what came from the run's own namespace, and what of it nobody could look at. */
  notes(namespace: string): string[] {
    if (this.reach === "own") return [];
    const seen = [...this.#taken].flatMap(([label, { state }]) => (state === "there" ? [label] : []));
    const unseen = [...this.#taken].flatMap(([label, found]) => (found.state === "unseen" ? [{ label, why: found.why }] : []));
    return [
      ...(seen.length === 0 ? [] : [`of the same name in namespace ${namespace}: ${seen.sort().join(", ")}`]),
      ...[...new Set(unseen.map(({ why }) => why))].map((why) => {
        const labels = unseen.flatMap((each) => (each.why === why ? [each.label] : []));
        return `taken by name in namespace ${namespace}, without a look whether it is there (${why}): ${labels.sort().join(", ")}`;
      }),
    ];
  }
}

/** The server's pod has them, so they are there. */
export const ownObjects = (): RunObjects => new RunObjects("own", () => ({ state: "there" }));
export const noObjects = (): RunObjects => new RunObjects("none", () => ({ state: "missing" }));

/** Whether the operator says that objects of the same names are meant in this namespace. */
export function meansSameNames({ allow }: Pick<Policy, "allow">, namespace: string): boolean {
  const inFull = allow.namespaces.filter((pattern) => !pattern.includes("*"));
  return allows([...inFull, ...allow.sameNames], namespace);
}

const keyOf = (kind: Kind, name: string): string => `${kind} ${name}`;

/**
 * Decides with what is in another namespace. It decides twice: the first time as if nothing could be seen, which shows what has to be looked
 * at and asks for nothing that no run would use.
 */
export async function decideWithLookUps<T>(cluster: ConnectOptions, namespace: string, decide: (objects: RunObjects) => T): Promise<T> {
  const asked = new Map<string, ObjectName>();
  const unseen = { state: "unseen", why: "not asked for" } as const;
  decide(
    new RunObjects("same-names", (kind, name) => {
      asked.set(keyOf(kind, name), { kind, name });
      return unseen;
    }),
  );
  const answers = await lookUp(cluster, namespace, [...asked.values()]);
  const found = new Map([...asked.keys()].map((key, index) => [key, answers[index] ?? unseen]));
  return decide(new RunObjects("same-names", (kind, name) => found.get(keyOf(kind, name)) ?? unseen));
}
