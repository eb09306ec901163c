import type { StatusLine } from "@paperclip-k8s/engine";
import type { ExecutionContext } from "../host/types.ts";
import { cleanLine } from "./clean-text.ts";

const MESSAGE_CHARS = 180;

/** Shows the host what the run is doing while it starts and ends, and that its CLI is silent, and gives it every warning as an event. */
export function createProgress(ctx: ExecutionContext): (line: StatusLine) => void {
  let started = false;
  return (line) => {
    const ended = line.cli === "ended";
    const text = cleanLine(line.text);
    const message = text.slice(0, MESSAGE_CHARS).toWellFormed();
    if (!started || ended || line.silence)
      bestEffort(() => ctx.onRuntimeProgress?.({ phase: ended ? "finalize" : "adapter_startup", message }));
    if (line.level === "warning")
      bestEffort(() => ctx.onEvent?.({ eventType: "k8s.warning", stream: "system", level: "warn", message: text }));
    started ||= line.cli === "started";
  };
}

/** No run fails because the host fails at showing it. */
function bestEffort(callback: () => void | Promise<void> | undefined): void {
  void Promise.resolve()
    .then(callback)
    .catch(() => {});
}
