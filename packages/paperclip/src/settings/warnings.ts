import { labelValue } from "@paperclip-k8s/engine";
import { few } from "./config-error.ts";
import type { Raw } from "./field.ts";
import { startFields } from "./fields/agent.ts";
import { limitFields } from "./fields/limits.ts";
import { podFields } from "./fields/pod.ts";
import type { TextMap } from "./kinds/structured.ts";
import { type Note, noted } from "./note.ts";
import { find } from "./read.ts";
import { settingName } from "./setting-name.ts";

// "--flag value" as one item, "--flag," and "--a,--b" come from the host's forms, which split at spaces in one place and at commas in another.
const TWO_IN_ONE = /^(--?[A-Za-z][\w-]*)(\s|,\s*-|,$)/;

/** Arguments stay as they were sent; of a doubtful one only the flag's name is repeated. */
export function argumentWarnings(args: readonly string[]): readonly Note[] {
  const doubtful = args.flatMap((arg) => TWO_IN_ONE.exec(arg)?.[1] ?? []);
  if (doubtful.length === 0) return [];
  const names = few(doubtful);
  return [
    noted(
      startFields.extraArgs,
      `${names} and what follows reach the CLI as one argument; the form splits at spaces when an agent is created, at commas when it is edited`,
    ),
  ];
}

const SHORT_TTL = 3600;

/** Limits that are allowed but seldom meant; only for values that were set. */
export function limitWarnings(raw: Raw): readonly Note[] {
  const notes: Note[] = [];
  const timeout = find(limitFields.timeoutSec, [raw]);
  const grace = find(limitFields.graceSec, [raw]);
  if (timeout !== undefined && grace !== undefined && grace > timeout)
    notes.push(
      noted(
        limitFields.graceSec,
        `${grace} is longer than ${settingName(limitFields.timeoutSec)}, ${timeout}: a run may take more time to stop than to work`,
      ),
    );
  const ttl = find(limitFields.ttlSecondsAfterFinished, [raw]);
  // Earlier adapters wrote 300 into every agent.
  if (ttl !== undefined && ttl < SHORT_TTL)
    notes.push(
      noted(
        limitFields.ttlSecondsAfterFinished,
        `after ${ttl} s the result of a run is gone if the server was down; leave it unset for a day`,
      ),
    );
  return notes;
}

/** Prefixes of Kubernetes and of ourselves, and what the Job controller sets without one. */
const RESERVED_PREFIXES = ["app.kubernetes.io/", "paperclip.io/", "batch.kubernetes.io/", "kubernetes.io/", "k8s.io/"];
const RESERVED_KEYS = ["job-name", "controller-uid"];

/** The user's labels without reserved ones, values made valid; at most one warning for each of the two. */
export function userLabels(given: TextMap): { readonly labels: TextMap; readonly notes: readonly Note[] } {
  const skipped: string[] = [];
  const corrected: string[] = [];
  const labels: Record<string, string> = {};
  for (const [key, value] of Object.entries(given)) {
    if (isReserved(key)) {
      skipped.push(key);
      continue;
    }
    const valid = labelValue(value);
    labels[key] = valid.value;
    if (valid.changed) corrected.push(`${key}=${valid.value}`);
  }
  const notes: Note[] = [];
  if (skipped.length > 0) notes.push(noted(podFields.labels, `skipped, their keys are reserved: ${few(skipped)}`));
  if (corrected.length > 0) notes.push(noted(podFields.labels, `values made valid (63 characters, A-Z a-z 0-9 _ . -): ${few(corrected)}`));
  return { labels, notes };
}

function isReserved(key: string): boolean {
  return RESERVED_KEYS.includes(key) || RESERVED_PREFIXES.some((prefix) => key.startsWith(prefix));
}
