import type { StatusLine } from "@paperclip-k8s/engine";
import type { ExecutionContext } from "../host/types.ts";

const MESSAGE_CHARS = 180;

/** Tells the host what the run is doing: as its current state while it starts and ends, as an event when it is trouble. */
export function createProgress(ctx: ExecutionContext): (line: StatusLine) => void {
  let started = false;
  return (line) => {
    const ended = line.cli === "ended";
    if (!started || ended)
      courtesy(() =>
        ctx.onRuntimeProgress?.({ phase: ended ? "finalize" : "adapter_startup", message: line.text.slice(0, MESSAGE_CHARS) }),
      );
    if (line.level === "warning")
      courtesy(() => ctx.onEvent?.({ eventType: "k8s.warning", stream: "system", level: "warn", message: line.text }));
    started ||= line.cli === "started";
  };
}

/** The host's trouble with a courtesy is its own. */
function courtesy(tell: () => void | Promise<void> | undefined): void {
  void Promise.resolve()
    .then(tell)
    .catch(() => {});
}
