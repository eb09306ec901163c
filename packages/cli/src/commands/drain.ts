import { type ControlAnswers, type ControlOptions, sendCommand } from "@paperclip-k8s/paperclip/drain";
import type { Command } from "../arguments/command.ts";
import { count } from "../table.ts";
import { EXIT, type ExitCode, type Terminal } from "../terminal.ts";

type Drain = Extract<Command, { name: "drain" }>;

/** `socket`: where the adapters are looked for, for tests. */
export async function drain(command: Drain, { out, err, env }: Terminal, socket: Partial<ControlOptions> = {}): Promise<ExitCode> {
  const { undo, reason, timeoutSec } = command;
  const found = await sendCommand(undo ? { command: "undo" } : { command: "drain", reason, timeoutMs: timeoutSec * 1000 }, {
    env,
    ...socket,
  });
  if (found.answers.length + found.unanswered.length === 0) {
    err("no adapter answers here: run this in the server's container, as the server's user, with its PAPERCLIP_HOME");
    return EXIT.left;
  }
  const left = undo ? 0 : report(found, out);
  for (const { pid, why } of found.unanswered) err(`an adapter in process ${pid} did not say what it did: ${why}`);
  if (found.unanswered.length > 0) return EXIT.left;
  if (undo) out("the server takes runs again");
  return left === 0 ? EXIT.done : EXIT.left;
}

/** Lists the runs, and returns how many are left. */
function report({ answers, unanswered }: ControlAnswers, out: Terminal["out"]): number {
  for (const { adapter, pid, detached, staying } of answers) {
    out(`${adapter} (process ${pid}): ${count(detached.length, "run")} detached, ${staying.length} left`);
    for (const run of detached) out(`  detached  ${run}`);
    for (const run of staying) out(`  left      ${run}`);
  }
  const detached = answers.reduce((sum, answer) => sum + answer.detached.length, 0);
  const left = answers.reduce((sum, answer) => sum + answer.staying.length, 0);
  const unknown = unanswered.length === 0 ? "" : `; ${count(unanswered.length, "adapter")} did not answer`;
  out(`detached ${count(detached, "run")}${left === 0 ? "" : `; ${left} left to recover`}${unknown}`);
  if (answers.length > 0) out("new runs are not started here for 10 minutes, or until: paperclip-k8s drain --undo");
  return left;
}
