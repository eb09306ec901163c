import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RunnerSpec } from "@paperclip-k8s/runner";
import { sign } from "../../../../packages/runner/src/mac.ts";

/** What the CLI's user can read of its own run: the Secret's files lie beside the program. */
export function ownSpec(): RunnerSpec {
  return JSON.parse(readFileSync(join(dirname(process.argv[1] ?? ""), "spec.json"), "utf8")) as RunnerSpec;
}

/** The runner, which is this program's parent. */
export const runnerPid = (): number => process.ppid;

/** Where the container's termination message is written: the runner's last argument. */
export function terminationLog(): string {
  const [, , path = ""] = readFileSync(`/proc/${runnerPid()}/cmdline`, "utf8").split("\0");
  return path;
}

/** Signed as the runner signs: the CLI's user can read the key of its own run, and no other. */
export const signedByOwnKey = (json: string): string => sign(json, Buffer.from(ownSpec().key ?? "", "base64url"));
