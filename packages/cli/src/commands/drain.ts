import { callControlSocket } from "@paperclip-k8s/paperclip/drain";
import type { Command } from "../arguments.ts";
import { count } from "../output/table.ts";
import { EXIT, type ExitCode, type Terminal } from "../terminal.ts";

/** The door may wait a little longer than it was told to, for the host to record the last run. */
const SLACK_MS = 5000;

export async function drain(command: Extract<Command, { name: "drain" }>, { out, err, env }: Terminal): Promise<ExitCode> {
  const patienceMs = command.timeoutSec * 1000;
  const reason = command.reason === null ? {} : { reason: command.reason };
  const order = command.undo ? ({ act: "undo" } as const) : ({ act: "drain", patienceMs, ...reason } as const);
  const answers = await callControlSocket(order, { env, timeoutMs: patienceMs + SLACK_MS });
  if (answers.length === 0) {
    err("no adapter answers here: run this in the server's container, as the server's user, with its PAPERCLIP_HOME");
    return EXIT.left;
  }
  if (command.undo) {
    out("the server takes runs again");
    return EXIT.done;
  }
  for (const { adapter, pid, detached, staying } of answers) {
    out(`${adapter} (process ${pid}): ${count(detached.length, "run")} let go, ${staying.length} left`);
    for (const run of detached) out(`  let go  ${run}`);
    for (const run of staying) out(`  left    ${run}`);
  }
  const left = answers.reduce((sum, { staying }) => sum + staying.length, 0);
  out(
    `detached ${count(
      answers.reduce((sum, { detached }) => sum + detached.length, 0),
      "run",
    )}${left === 0 ? "" : `; ${left} left to recover`}`,
  );
  return left === 0 ? EXIT.done : EXIT.left;
}
