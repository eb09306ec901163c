// A process for one import: it reads what agents could write, so it may be slow, run out of memory or be ended without harm to anything else.
import type { FromImport, ImportCommand, ImportProgress } from "../protocol.ts";
import { answerOf } from "./fault.ts";
import { importState } from "./import.ts";

process.title = "import";
const PROGRESS_EVERY_MS = 200;

const send = (message: FromImport, sent = (): void => {}): void => void process.send?.(message, undefined, undefined, sent);

function createReport(): (progress: ImportProgress) => void {
  let [sentAt, step] = [Number.NEGATIVE_INFINITY, ""];
  return (progress) => {
    if (progress.step === step && performance.now() - sentAt < PROGRESS_EVERY_MS) return;
    [sentAt, step] = [performance.now(), progress.step];
    send({ progress });
  };
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.on("disconnect", () => process.exit(0));
process.once("message", async (command: ImportCommand) => {
  const report = createReport();
  report({ step: "volume", bytes: 0 });
  send({ answer: await importState(command, report).catch(answerOf) }, () => process.exit(0));
});
