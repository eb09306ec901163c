import { systemClock, type Timers } from "../clock.ts";
import { isForbidden, isNotFound } from "./api-error.ts";
import { type Connection, connect } from "./connection.ts";
import type { ConnectOptions } from "./credentials.ts";
import { named, paths } from "./paths.ts";
import { sendRequest } from "./send-request.ts";

const COLLECTIONS = { claim: paths.claims, secret: paths.secrets, configMap: paths.configMaps } as const;

export interface ObjectName {
  readonly kind: keyof typeof COLLECTIONS;
  readonly name: string;
}

/** `unseen`: it could not be looked at, which says nothing about whether it is there. */
export type LookUp = { readonly state: "there" } | { readonly state: "missing" } | { readonly state: "unseen"; readonly why: string };

/** Of a Secret only its metadata is asked for: what is in it is not this process's business. */
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

/** A run waits for this: an API server that does not answer soon is as good as one that does not let us look. */
const LIMITS = { timeoutMs: 5000, retry: { attempts: 2 } } as const;

/** How long an answer counts. What is missing is likely to be made soon, by somebody who has just read that it is. */
const FRESH_MS = { there: 300_000, missing: 10_000, unseen: 300_000 } as const;

interface Known {
  readonly at: number;
  readonly answer: Promise<Answer>;
  /** Null while the answer is on its way. */
  freshMs: number | null;
}

/** Namespaces are the agents' choice, within patterns of the operator's. */
const MOST_KNOWN = 1000;

const known = new WeakMap<Connection, Map<string, Known>>();

interface LookUpOptions {
  readonly clock?: Pick<Timers, "now">;
}

/** Whether these objects are in a namespace, in their order. Runs share the answers for some minutes; errors are answers too and never thrown. */
export async function lookUp(
  cluster: ConnectOptions,
  namespace: string,
  wanted: readonly ObjectName[],
  { clock = systemClock }: LookUpOptions = {},
): Promise<readonly LookUp[]> {
  if (wanted.length === 0) return [];
  const connection = await connect(cluster);
  const answers = known.get(connection) ?? new Map<string, Known>();
  known.set(connection, answers);
  if (answers.size > MOST_KNOWN) answers.clear();
  return Promise.all(
    wanted.map(({ kind, name }) => {
      const path = named(COLLECTIONS[kind](namespace), name);
      const before = answers.get(path);
      if (before !== undefined && (before.freshMs === null || clock.now() - before.at < before.freshMs)) return before.answer;
      const entry: Known = { at: clock.now(), answer: ask(connection, path), freshMs: null };
      answers.set(path, entry);
      void entry.answer.then((answer) => {
        entry.freshMs = answer.state === "unseen" && !answer.isDenied ? 0 : FRESH_MS[answer.state];
      });
      return entry.answer;
    }),
  );
}

type Answer =
  | Exclude<LookUp, { readonly state: "unseen" }>
  | (Extract<LookUp, { readonly state: "unseen" }> & { readonly isDenied: boolean });

async function ask(connection: Connection, path: string): Promise<Answer> {
  try {
    await sendRequest(connection, { method: "GET", path, accept: METADATA, timeoutMs: LIMITS.timeoutMs }, LIMITS.retry);
    return { state: "there" };
  } catch (error) {
    if (isNotFound(error)) return { state: "missing" };
    return { state: "unseen", isDenied: isForbidden(error), why: error instanceof Error ? error.message : String(error) };
  }
}
