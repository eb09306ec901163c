/** What was seen of SQLite's locks; codes are SQLite's, 0 = it worked. */
export interface LockFacts {
  /** Of the first process, which makes a database and locks it; null = it got no answer of SQLite's. */
  readonly error: number | null;
  readonly message: string;
  /** Of a second process while the first has the lock, and after that; null = it was not tried or did not end by itself. */
  readonly held: number | null;
  readonly released: number | null;
}

/** `unknown`: nothing was found out about locks. */
export interface LockFinding {
  readonly kind: "work" | "broken" | "unknown";
  readonly reason: string;
}

const BUSY = 5;
/** BUSY in a database that nobody else has, IOERR (a lock that is not supported is one), PROTOCOL, NOLFS. */
const OF_LOCKS = [BUSY, 10, 15, 22];

export function judgeLocks({ error, message, held, released }: LockFacts): LockFinding {
  if (error === null) return { kind: "unknown", reason: message };
  if (error !== 0) return { kind: OF_LOCKS.includes(error) ? "broken" : "unknown", reason: message };
  if (held === 0) return { kind: "broken", reason: "two processes had the same lock at once" };
  if (held === BUSY && released === 0) return { kind: "work", reason: "" };
  if (held === BUSY && released === BUSY) return { kind: "broken", reason: "a lock was not given back" };
  const codes = [held, released].map((code) => code ?? "no answer").join(", ");
  return { kind: [held, released].includes(10) ? "broken" : "unknown", reason: `a second process failed with SQLite's codes ${codes}` };
}

/** As the process that looks writes it. */
export const writeFinding = ({ kind, reason }: LockFinding): string => `${kind} ${reason}`;

export function readFinding(text: string): LockFinding {
  const [kind = "", ...reason] = text.split(" ");
  return { kind: kind === "work" || kind === "broken" ? kind : "unknown", reason: reason.join(" ").slice(0, 500) };
}
