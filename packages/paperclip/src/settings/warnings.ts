import type { Raw } from "./field.ts";
import { limitFields } from "./fields/limits.ts";
import { find } from "./read-field.ts";

// "--flag value" as one item, "--flag," and "--a,--b" come from the host's forms, which split at spaces in one place and at commas in another.
const TWO_IN_ONE = /^(--?[A-Za-z][\w-]*)(\s|,\s*-|,$)/;

/** Arguments stay as they were sent; of a doubtful one only the flag's name is repeated. */
export function argumentWarnings(args: readonly string[]): readonly string[] {
  const doubtful = args.flatMap((arg) => TWO_IN_ONE.exec(arg)?.[1] ?? []);
  if (doubtful.length === 0) return [];
  const names = doubtful.join(", ");
  return [
    `extraArgs: ${names} and what follows reach the CLI as one argument; the form splits at spaces when an agent is created, at commas when it is edited`,
  ];
}

const SHORT_TTL = 3600;

/** Limits that are allowed but seldom meant; only for values that were set. */
export function limitWarnings(raw: Raw): readonly string[] {
  const warnings: string[] = [];
  const timeout = find(limitFields.timeoutSec, raw);
  const grace = find(limitFields.graceSec, raw);
  if (timeout !== undefined && grace !== undefined && grace > timeout)
    warnings.push(`graceSec: ${grace} is longer than timeoutSec, ${timeout}: a run may take more time to stop than to work`);
  const ttl = find(limitFields.ttlSecondsAfterFinished, raw);
  // Earlier adapters wrote 300 into every agent.
  if (ttl !== undefined && ttl < SHORT_TTL)
    warnings.push(`ttlSecondsAfterFinished: after ${ttl} s the result of a run is gone if the server was down; leave it unset for a day`);
  return warnings;
}
