import { existsSync } from "node:fs";
import { type EndRecord, readEnd } from "@paperclip-k8s/engine";
import type { HeldIssue } from "../host/held-issues.ts";

/** A run makes a second attempt at most once for each thing it can leave out; more are not worth a look. */
const ATTEMPTS = ["-3", "-2", ""];
const PART = /^[a-zA-Z0-9-]+$/;

/** The end record that a run's files still hold when its Job is gone; null = none is seen from here. */
export async function readKeptEnd(
  { runId, companyId, run }: HeldIssue,
  place: { readonly data: string | null; readonly instance: string },
): Promise<EndRecord | null> {
  if (place.data === null || run.agentId === null) return null;
  if (![place.instance, companyId, run.agentId, runId].every((part) => PART.test(part))) return null;
  const folder = `${place.data}/instances/${place.instance}/data/run-logs/${companyId}/${run.agentId}`;
  const files = ATTEMPTS.map((attempt) => `${folder}/${runId}${attempt}.pod.ndjson`);
  // Only the last attempt tells how the run ended: an earlier one's end says nothing of it.
  const last = files.find((file) => existsSync(file));
  return last === undefined ? null : readEnd(last, { run: runId, nonce: null });
}
