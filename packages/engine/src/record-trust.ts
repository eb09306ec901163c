import { createHmac } from "node:crypto";
import { type MetaRecord, openSigned, sign, type TerminationMessage } from "@paperclip-k8s/runner";
import { wakeUpToken } from "@paperclip-k8s/runner/wake-up";
import { decodeRecord, isSignedMessage, parseTermination, signedRecord } from "./decode-records.ts";

/** How a run's records are known to be its own. Its Job says it, which no agent can change. */
export type RecordTrust =
  /** By a MAC with the run's key; null = this server cannot derive that key, so that no record counts. */
  | { readonly kind: "signed"; readonly key: Buffer | null }
  /** A run of a version that did not sign: anybody who can write the file may have written them. */
  | { readonly kind: "unsigned" };

/** What the Job's annotation says of records that are signed as they are here. */
export const RECORDS_FORMAT = "hmac-1";

/** The run's own key: in its Secret, and derived again by any server that has the secret. */
export function recordKey(secret: Uint8Array, firstRun: string, nonce: string): Buffer {
  return createHmac("sha256", secret)
    .update(JSON.stringify(["run-records", firstRun, nonce]))
    .digest();
}

/** By what wake-ups are known as the run's own; null = it signs nothing, or its key is not known here. */
export const wakeUpTokenOf = (trust: RecordTrust): Buffer | null =>
  trust.kind === "signed" && trust.key !== null ? wakeUpToken(trust.key) : null;

/** The key of the states that are saved in a folder. */
export function stateKey(secret: Uint8Array, savedFolder: string): string {
  return createHmac("sha256", secret)
    .update(JSON.stringify(["saved-state", savedFolder]))
    .digest("base64url");
}

/** A note that this server leaves where agents can write too; `about`: what it is for, so that it cannot stand for another one. */
export const signNote = (secret: Uint8Array, about: string, note: object): string => sign(JSON.stringify(note), noteKey(secret, about));

/** Such a note as it was written; null = no server of this secret has written it for that. */
export const openNote = (secret: Uint8Array, about: string, text: Buffer): string | null =>
  openSigned(text, noteKey(secret, about))?.toString() ?? null;

function noteKey(secret: Uint8Array, about: string): Buffer {
  return createHmac("sha256", secret)
    .update(JSON.stringify(["note", about]))
    .digest();
}

/** `format`: the Job's annotation. A form of another version cannot be checked, but is signed. */
export function trustOf(
  format: string | undefined,
  secret: Uint8Array | null | undefined,
  run: { readonly firstRun: string; readonly nonce: string },
): RecordTrust {
  if (format === undefined) return { kind: "unsigned" };
  if (format !== RECORDS_FORMAT || secret == null) return { kind: "signed", key: null };
  return { kind: "signed", key: recordKey(secret, run.firstRun, run.nonce) };
}

/** The container's termination message, if the run's pod has written it; null = it is another's, or anything else. */
export function ownTermination(message: string | null, nonce: string, trust: RecordTrust): TerminationMessage | null {
  const found = parseTermination(message, nonce);
  return found === null || isForged(message ?? "", trust) ? null : found;
}

/** What looks like a termination message of the run, but does not have its MAC. */
export function isForgedTermination(message: string | null, nonce: string, trust: RecordTrust): boolean {
  return parseTermination(message, nonce) !== null && isForged(message ?? "", trust);
}

const isForged = (message: string, trust: RecordTrust): boolean => trust.kind === "signed" && !isSignedMessage(message, trust.key);

/** Whose records are looked for; a null nonce = the first start record of the run is believed. */
export interface RecordOwner {
  readonly run: string;
  readonly nonce: string | null;
}

/** Reads one line; `foreign`: somebody else has written it. Null = nothing to report. */
export type RecordCheck = (line: Buffer) => MetaRecord | "foreign" | null;

export function createRecordCheck(trust: RecordTrust, owner: RecordOwner): RecordCheck {
  return trust.kind === "signed" ? bySignature(trust.key) : bySection(owner);
}

/** Each number counts once: a line that was copied is foreign. */
function bySignature(key: Buffer | null): RecordCheck {
  let last = 0;
  return (line) => {
    const json = key === null ? null : openSigned(line, key);
    if (json === null) return "foreign";
    const { seq, record } = signedRecord(json);
    if (seq === null || seq <= last) return "foreign";
    last = seq;
    return record;
  };
}

/** Each record belongs to the run of the start record before it. */
function bySection(owner: RecordOwner): RecordCheck {
  let isOwn = false;
  return (line) => {
    const record = decodeRecord(line);
    if (record?.type === "start") isOwn = record.run === owner.run && (owner.nonce === null || record.nonce === owner.nonce);
    return isOwn ? record : null;
  };
}
