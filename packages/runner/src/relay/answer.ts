// Answers one request with what the target says to it, trying again only what has certainly not been carried out.
import { performance } from "node:perf_hooks";
import type { RelayCredentials } from "../records.ts";
import { saysConflict } from "./conflict.ts";
import type { Credentials } from "./credentials.ts";
import { type Head, Problem, valuesOf, without, withoutConnection } from "./head.ts";
import type { RelayConfig } from "./read-relay.ts";
import type { Request } from "./read-request.ts";
import { passOn, peek, readResponse } from "./response.ts";
import { send } from "./send.ts";
import { ConnectError, type TargetConnector } from "./target.ts";
import type { Wire } from "./wire.ts";

export interface Relaying {
  readonly order: RelayConfig;
  readonly credentials: Credentials;
  readonly target: TargetConnector;
  readonly tally: Tally;
}

/** For the note at the end. */
export interface Tally {
  conflicts: number;
  reconnects: number;
  failures: number;
  lastFailure: string;
}

interface Chance {
  readonly mayRepeat: boolean;
  readonly connectMs: number;
}

type Attempt = { readonly kind: "passed"; readonly keepAlive: boolean } | { readonly kind: "conflict" | "refused" };

const LONGEST_CONNECT_MS = 10_000;
const SHORTEST_CONNECT_MS = 1_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;
/** How often a wait looks for new credentials. */
const LOOK_MS = 100;
/** A longer answer is no conflict. */
const MAX_CONFLICT = 64 * 1024;

/** True when the connection can take another request. */
export async function answer(request: Request, client: Wire, relaying: Relaying): Promise<boolean> {
  const { order, credentials, tally } = relaying;
  const giveUpAt = performance.now() + order.retryMs;
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    const left = giveUpAt - performance.now();
    const before = credentials.current();
    const chance: Chance = { mayRepeat: left > wait, connectMs: Math.min(LONGEST_CONNECT_MS, Math.max(left, SHORTEST_CONNECT_MS)) };
    const attempt = await attemptOnce(request, client, relaying, chance);
    if (attempt.kind === "passed") return attempt.keepAlive;
    if (attempt.kind === "conflict") tally.conflicts++;
    else tally.reconnects++;
    await pause(wait * (0.75 + Math.random() / 4), client, () => credentials.current() !== before);
  }
}

async function attemptOnce(request: Request, client: Wire, relaying: Relaying, chance: Chance): Promise<Attempt> {
  const { order, credentials } = relaying;
  const identity = credentials.current();
  const own = credentials.owns(tokenOf(request.head, order.headers.authorization));
  const upstream = await open(relaying.target, chance);
  if (!upstream) return { kind: "refused" };
  client.onGone = () => upstream.destroy();
  try {
    if (client.isGone) throw new Error("the client is gone");
    send(request, requestHead(request.head, order, own ? identity : null), upstream);
    const response = await readResponse(upstream, request.method);
    // Without a token of this run, new credentials would change nothing; without the whole body it cannot be sent again.
    const repeatable = chance.mayRepeat && own && request.whole && order.statuses.includes(response.status);
    const seen = repeatable ? await peek(response, MAX_CONFLICT) : [];
    if (repeatable && (await saysConflict(response.head, seen, order.pattern))) return { kind: "conflict" };
    return { kind: "passed", keepAlive: await passOn(response, seen, request, client) };
  } finally {
    client.onGone = () => {};
    upstream.destroy();
  }
}

/** Null for a connection that was refused and may be tried again. */
async function open(target: TargetConnector, chance: Chance): Promise<Wire | null> {
  try {
    return await target.connect(chance.connectMs);
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    if (error.passing && chance.mayRepeat) return null;
    throw new Problem(502, error.message);
  }
}

/** Cut short by new credentials: they are what a conflict waits for. */
async function pause(ms: number, client: Wire, isOver: () => boolean): Promise<void> {
  for (const until = performance.now() + ms; performance.now() < until && !isOver(); ) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(LOOK_MS, until - performance.now())));
    if (client.isGone) throw new Error("the client is gone");
  }
}

function tokenOf(head: Head, name: string): string {
  const values = valuesOf(head, name);
  return (values.length === 1 && /^bearer +(\S+)$/i.exec(values[0] ?? "")?.[1]) || "";
}

/** Only who has shown a token of this run acts as it; everything else is passed on as it came. */
function requestHead(head: Head, order: RelayConfig, identity: RelayCredentials | null): Head {
  const { authorization, runId } = order.headers;
  const replaced = identity ? [authorization, runId] : [];
  const headers = without(withoutConnection(head), ["host", ...replaced]);
  const added = identity
    ? ([
        [authorization, `Bearer ${identity.token}`],
        [runId, identity.runId],
      ] as const)
    : [];
  return { first: head.first, headers: [["Host", order.target.authority], ...headers, ...added, ["Connection", "close"]] };
}
