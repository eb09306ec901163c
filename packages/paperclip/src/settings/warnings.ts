import { labelValue } from "@paperclip-k8s/engine";
import { find, type Raw } from "./field.ts";
import { startFields } from "./fields/agent.ts";
import { limitFields } from "./fields/limits.ts";
import { podFields } from "./fields/pod.ts";
import { stateFields } from "./fields/state.ts";
import type { TextMap } from "./kinds/structured.ts";
import { settingName } from "./setting-name.ts";

// "--flag value" as one item, "--flag," and "--a,--b" come from the host's forms, which split at spaces in one place and at commas in another.
const TWO_IN_ONE = /^(--?[A-Za-z][\w-]*)(\s|,\s*-|,$)/;

/** Arguments stay as they were sent; of a doubtful one only the flag's name is repeated. */
export function argumentWarnings(args: readonly string[]): readonly string[] {
  const doubtful = args.flatMap((arg) => TWO_IN_ONE.exec(arg)?.[1] ?? []);
  if (doubtful.length === 0) return [];
  const names = doubtful.join(", ");
  return [
    `${settingName(startFields.extraArgs)}: ${names} and what follows reach the CLI as one argument; the form splits at spaces when an agent is created, at commas when it is edited`,
  ];
}

const SHORT_TTL = 3600;

/** Limits that are allowed but seldom meant; only for values that were set. */
export function limitWarnings(raw: Raw): readonly string[] {
  const warnings: string[] = [];
  const timeout = find(limitFields.timeoutSec, raw);
  const grace = find(limitFields.graceSec, raw);
  if (timeout !== undefined && grace !== undefined && grace > timeout)
    warnings.push(
      `${settingName(limitFields.graceSec)}: ${grace} is longer than ${settingName(limitFields.timeoutSec)}, ${timeout}: a run may take more time to stop than to work`,
    );
  const ttl = find(limitFields.ttlSecondsAfterFinished, raw);
  // Earlier adapters wrote 300 into every agent.
  if (ttl !== undefined && ttl < SHORT_TTL)
    warnings.push(
      `${settingName(limitFields.ttlSecondsAfterFinished)}: after ${ttl} s the result of a run is gone if the server was down; leave it unset for a day`,
    );
  return warnings;
}

/** The earlier adapters' form wrote it into every agent, and nobody need have meant it. */
export function takeOverWarnings(raw: Raw): readonly string[] {
  const field = stateFields.reattachOrphanedJobs;
  if (find(field, raw) !== false) return [];
  return [
    `${settingName(field)} is off: if the server is lost, the Job that goes on blocks the next run until it has ended; clear the setting to have it taken over`,
  ];
}

/** Prefixes of Kubernetes and of ourselves, and what the Job controller sets without one. */
const RESERVED_PREFIXES = ["app.kubernetes.io/", "paperclip.io/", "batch.kubernetes.io/", "kubernetes.io/", "k8s.io/"];
const RESERVED_KEYS = ["job-name", "controller-uid"];

/** The user's labels without reserved ones, values made valid; at most one warning for each of the two. */
export function userLabels(given: TextMap): { readonly labels: TextMap; readonly warnings: readonly string[] } {
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
  const warnings: string[] = [];
  if (skipped.length > 0) warnings.push(`${settingName(podFields.labels)}: skipped, their keys are reserved: ${skipped.join(", ")}`);
  if (corrected.length > 0)
    warnings.push(`${settingName(podFields.labels)}: values made valid (63 characters, A-Z a-z 0-9 _ . -): ${corrected.join(", ")}`);
  return { labels, warnings };
}

/** Whether a label or annotation is one of Kubernetes or of ourselves. */
export function isReserved(key: string): boolean {
  return RESERVED_KEYS.includes(key) || RESERVED_PREFIXES.some((prefix) => key.startsWith(prefix));
}
