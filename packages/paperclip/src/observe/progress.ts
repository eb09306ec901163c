import type { StatusLine } from "@paperclip-k8s/engine";
import type { ExecutionContext } from "../host/types.ts";
import { cleanLine } from "./clean-text.ts";
import { mark } from "./transcript/marks.ts";

const MESSAGE_CHARS = 180;
/** As often as the host itself refreshes this line: each time costs it a query, and a line on the live page of the run. */
const STEP_MS = 5000;
/** Their mark shows that the agent has said it, and not we. */
const STEPS: readonly string[] = [mark.call, mark.assistant];

type Phase = Parameters<NonNullable<ExecutionContext["onRuntimeProgress"]>>[0]["phase"];
/** The host's own word for a run at work, which its types leave out. */
const AT_WORK = "run_activity" as Phase;

/** What the host shows beside a run while it works: one line, on the page. */
export interface Progress {
  /** A line of ours: shown while the run starts, when its CLI is silent and when it ends; every warning is an event too. */
  status(line: StatusLine): void;
  /** Lines of the transcript: the last call or text among them is the agent's latest step. */
  transcript(lines: readonly string[]): void;
}

export function createProgress(ctx: ExecutionContext): Progress {
  let at: "starting" | "working" | "ended" = "starting";
  let latest: string | null = null;
  let shown = "";
  let isSilent = false;
  let pause: NodeJS.Timeout | null = null;
  const show = (phase: Phase, message: string) =>
    bestEffort(() => ctx.onRuntimeProgress?.({ phase, message: message.slice(0, MESSAGE_CHARS).toWellFormed() }));
  /** The first step at once, then the latest one after each pause. */
  const showStep = () => {
    pause = null;
    if (latest === null || at === "ended") return;
    // A copy, because a part of a string keeps all of it in memory, and this one stays.
    shown = Buffer.from(latest.slice(0, MESSAGE_CHARS)).toString();
    latest = null;
    show(AT_WORK, shown);
    pause = setTimeout(showStep, STEP_MS).unref();
  };
  return {
    status(line) {
      const text = cleanLine(line.text);
      if (line.cli === "ended") show("finalize", text);
      else if (at === "starting") show("adapter_startup", text);
      else if (line.silence) show(AT_WORK, shown === "" ? text : `${text} · ${shown}`);
      isSilent ||= line.silence === true;
      if (line.level === "warning")
        bestEffort(() => ctx.onEvent?.({ eventType: "k8s.warning", stream: "system", level: "warn", message: text }));
      if (line.cli !== undefined) at = line.cli === "ended" ? "ended" : "working";
    },
    transcript(lines) {
      // Whatever it writes, it is no longer silent: its last step stands alone again.
      if (isSilent && shown !== "") latest ??= shown;
      isSilent = false;
      latest = lines.findLast((line) => STEPS.includes(line.charAt(0))) ?? latest;
      if (pause === null) showStep();
    },
  };
}

/** No run fails because the host fails at showing it. */
function bestEffort(callback: () => void | Promise<void> | undefined): void {
  void Promise.resolve()
    .then(callback)
    .catch(() => {});
}
