import type { EndRecord } from "@paperclip-k8s/runner";
import { type RecordOwner, recordKey } from "../record-trust.ts";
import { runFiles } from "../request.ts";
import { MAX_META_BYTES, MetaReader } from "./meta.ts";
import { mountPointOf } from "./mount-point.ts";
import { withVolume } from "./volume.ts";

const READ_TIMEOUT_MS = 10_000;
/** A run has one nonce. Start records that others have added must not make the reader try an endless number of keys. */
const MAX_NONCES = 4;

/** An end record as it was found. Only a proved one says what happened; any other says what somebody claims. */
export interface FoundEnd {
  readonly record: EndRecord;
  readonly proved: boolean;
}

/** `secret`: of the server that started the run; null = not known here, so that nothing can be proved. */
type EndOwner = RecordOwner & { readonly secret: Uint8Array | null };

/** The end record beside an output file; null = there is none, or no such file is seen from here. */
export async function readEnd(outputPath: string, owner: EndOwner): Promise<FoundEnd | null> {
  const { meta: path } = runFiles(outputPath);
  const of = { path, links: "none", maxBytes: MAX_META_BYTES } as const;
  const bytes = await withVolume(mountPointOf(path), (volume) => volume.run("readFile", of, READ_TIMEOUT_MS)).catch(() => null);
  return bytes === null ? null : findEnd(bytes, owner);
}

export function findEnd(bytes: Buffer, owner: EndOwner): FoundEnd | null {
  const { run, secret } = owner;
  const claimed = new MetaReader(owner, { kind: "unsigned" }).push(bytes).records;
  // A nonce that somebody made up gives a key that nobody has signed with.
  const nonces = new Set(
    owner.nonce === null ? claimed.flatMap((record) => (record.type === "start" ? [record.nonce] : [])) : [owner.nonce],
  );
  for (const nonce of secret === null ? [] : [...nonces].slice(0, MAX_NONCES)) {
    const key = recordKey(secret as Uint8Array, run, nonce);
    const proved = endOf(new MetaReader({ run, nonce }, { kind: "signed", key }).push(bytes).records);
    if (proved !== null) return { record: proved, proved: true };
  }
  const record = endOf(claimed);
  return record === null ? null : { record, proved: false };
}

const endOf = (records: ReturnType<MetaReader["push"]>["records"]): EndRecord | null =>
  records.findLast((record) => record.type === "end") ?? null;
