// What the runner has written, or an agent in its name. Decoding never throws, is bounded, keeps known fields only, and lets an old
// runner's records lack the fields of later versions.
import {
  type CliEnd,
  type EndRecord,
  type MetaRecord,
  openSigned,
  type StateEnd,
  type StatePoint,
  type TerminationMessage,
} from "@paperclip-k8s/runner";
import type { SelfCheckFinding } from "@paperclip-k8s/runner/self-check";

/** Longest line of the meta file that can be a record. */
export const MAX_RECORD_BYTES = 1024 * 1024;
const MAX_TERMINATION_CHARS = 8192;
const MAX_TEXT = 4096;

const REJECTED = Symbol("rejected");
type Field<T> = (value: unknown) => T | typeof REJECTED;
/** One entry for each field, optional ones too, so that none is forgotten. */
type Fields<T> = { readonly [K in keyof Required<Omit<T, "type">>]: Field<T[K]> };

const accept =
  <T>(check: (value: unknown) => boolean): Field<T> =>
  (value) =>
    check(value) ? (value as T) : REJECTED;
const orNull =
  <T>(field: Field<T>): Field<T | null> =>
  (value) =>
    value === null ? null : field(value);
/** A field that a record may lack, or have in a form of another version. */
const or =
  <T>(field: Field<T>, fallback: T): Field<T> =>
  (value) => {
    const decoded = field(value);
    return decoded === REJECTED ? fallback : decoded;
  };

const text = accept<string>((value) => typeof value === "string" && value.length <= MAX_TEXT);
const longText = accept<string>((value) => typeof value === "string");
const shortened: Field<string> = (value) => (typeof value === "string" ? value.slice(0, MAX_TEXT) : REJECTED);
const count = accept<number>((value) => Number.isSafeInteger(value) && (value as number) >= 0);
const amount = accept<number>((value) => typeof value === "number" && Number.isFinite(value) && value >= 0);
const sha256 = orNull(accept<string>((value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value)));
const flag = accept<boolean>((value) => typeof value === "boolean");
const oneOf = <T extends string>(...names: readonly T[]): Field<T> => accept((value) => (names as readonly unknown[]).includes(value));

function group<T>(fields: Fields<T>): Field<Omit<T, "type">> {
  const entries = Object.entries(fields) as [string, Field<unknown>][];
  return (value) => {
    if (typeof value !== "object" || value === null) return REJECTED;
    const decoded = entries.map(([name, field]) => [name, field((value as Record<string, unknown>)[name])] as const);
    if (decoded.some(([, each]) => each === REJECTED)) return REJECTED;
    return Object.fromEntries(decoded.filter(([, each]) => each !== undefined)) as Omit<T, "type">;
  };
}

const point: Field<StatePoint> = group<StatePoint>({ generation: text, at: text, bytes: count, version: or(orNull(text), null) });

const stateEnd: Field<StateEnd> = group<StateEnd>({
  restored: or(orNull(point), null),
  restoreMs: or(amount, 0),
  saved: flag,
  last: or(orNull(point), null),
  saveMs: or(amount, 0),
  error: or(orNull(shortened), null),
});

const cliEnd: Fields<CliEnd> = {
  exitCode: orNull(accept((value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255)),
  signal: orNull(accept((value) => typeof value === "string" && /^SIG[A-Z0-9]{1,16}$/.test(value))),
  cause: oneOf("exit", "timeout", "output-limit", "stopped", "final-line", "spawn-failed", "runner-failed"),
  bytes: count,
  written: count,
  outputSha256: or<string | null | undefined>(sha256, undefined),
  lines: or(count, 0),
  oomKills: or(orNull(count), null),
  peakMemoryBytes: or(orNull(amount), null),
  memoryLimitBytes: or(orNull(amount), null),
  error: or(orNull(shortened), null),
  state: or<StateEnd | undefined>(stateEnd, undefined),
};

type Decoders = { readonly [T in MetaRecord["type"]]: Field<Omit<Extract<MetaRecord, { type: T }>, "type">> };
const records: Decoders = {
  start: group({ at: text, run: text, nonce: text, pod: or(text, ""), runtime: or(text, "") }),
  "cli-started": group({ at: text, pid: or(count, 0) }),
  stderr: group({ at: text, text: longText }),
  note: group({ at: text, text: shortened }),
  state: group({ at: text, act: oneOf("restored", "saved"), point: orNull(point), ms: or(amount, 0) }),
  end: group<EndRecord>({
    at: text,
    ...cliEnd,
    stderrDropped: or(count, 0),
    leftoversEnded: or(flag, false),
    cpuMs: or(orNull(amount), null),
  }),
};

/** One line of the meta file; null = it is no record. */
export function decodeRecord(line: Buffer): MetaRecord | null {
  return recordOf(parsed(line.toString()));
}

/** A record whose MAC was right, with its number; null = it has none, or is no record. */
export function signedRecord(json: Buffer): { readonly seq: number | null; readonly record: MetaRecord | null } {
  const value = parsed(json.toString());
  const seq = count((value as { readonly seq?: unknown } | null)?.seq);
  return { seq: seq === REJECTED ? null : seq, record: recordOf(value) };
}

function recordOf(value: unknown): MetaRecord | null {
  const type = (value as { readonly type?: unknown } | null)?.type;
  if (typeof type !== "string" || !Object.hasOwn(records, type)) return null;
  const decoded = records[type as MetaRecord["type"]](value);
  return decoded === REJECTED ? null : ({ type, ...decoded } as MetaRecord);
}

const termination = group<TerminationMessage>({
  format: accept((value) => value === 1),
  run: text,
  nonce: text,
  ...cliEnd,
  finalLine: or(orNull(text), null),
});

/** The container's termination message, whoever has written it; null = it is anything else: a log tail, an older program, another run's. */
export function parseTermination(message: string | null, nonce: string): TerminationMessage | null {
  if (!message?.startsWith("{") || message.length > MAX_TERMINATION_CHARS) return null;
  const decoded = termination(parsed(message));
  return decoded === REJECTED || decoded.nonce !== nonce ? null : (decoded as TerminationMessage);
}

/** Whether the runner has signed this termination message with the run's key. */
export function isSignedMessage(message: string, key: Buffer | null): boolean {
  return key !== null && message.length <= MAX_TERMINATION_CHARS && openSigned(Buffer.from(message), key) !== null;
}

const finding = group<SelfCheckFinding>({
  check: text,
  ok: flag,
  detail: shortened,
  missing: or<boolean | undefined>(flag, undefined),
});

/** A line of a pod that checks itself; null = it is no finding. */
export function selfCheckFinding(line: string): SelfCheckFinding | null {
  const decoded = finding(parsed(line));
  return decoded === REJECTED ? null : (decoded as SelfCheckFinding);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
