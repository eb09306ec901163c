import { recordOf } from "../../host/context-values.ts";

/** Run inputs that only the host's own library can read out of the context. */
export interface WakeInputs {
  readonly payloadJson: string | null;
  readonly workMode: string | null;
}

/** Linux refuses to start a program with a longer `NAME=value`. */
const MAX_VARIABLE_BYTES = 128 * 1024 - 1;
const PAYLOAD = "PAPERCLIP_WAKE_PAYLOAD_JSON";

/** The payload as the host writes it; where that is too long for a variable, without what the prompt contains anyway. */
export async function wakeInputs(context: Readonly<Record<string, unknown>>): Promise<WakeInputs> {
  const host = await import("../prompt/host-rendering.ts");
  const wake = context.paperclipWake;
  const full = host.stringifyPaperclipWakePayload(wake);
  const short = () =>
    host.stringifyPaperclipWakePayload({ ...recordOf(wake), executionContinuation: null }, { omitIssueDescription: true });
  return {
    payloadJson: full !== null && tooLong(PAYLOAD, full) ? short() : full,
    workMode: host.readPaperclipIssueWorkModeFromContext(context),
  };
}

export function tooLong(name: string, value: string): boolean {
  return name.length + 1 + Buffer.byteLength(value) > MAX_VARIABLE_BYTES;
}
