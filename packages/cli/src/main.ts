#!/usr/bin/env node
import { nodeProblem } from "@paperclip-k8s/paperclip/node-version";
import { runCommand } from "./run-command.ts";

const problem = nodeProblem("paperclip-k8s");
if (problem !== null) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
// A reader that has seen enough, like head, is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

process.exitCode = await runCommand(process.argv.slice(2), {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
  env: process.env,
  stopped: stop.signal,
  now: () => Date.now(),
});
