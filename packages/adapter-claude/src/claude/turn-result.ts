import type { Entry, StepTokens } from "@paperclip-k8s/paperclip/agent-cli/entry";
import { type Fields, fieldsOf, numberOrNull, textOf, textOrNull } from "@paperclip-k8s/paperclip/agent-cli/json-fields";
import { ledger, messageTokens } from "./usage.ts";

/** Claude Code's result event of a turn. */
export interface TurnResult {
  /** The host's rule: its subtype and flag decide, not the exit code. */
  readonly succeeded: boolean;
  readonly subtype: string;
  readonly stopReason: string | null;
  readonly terminalReason: string | null;
  readonly text: string;
  /** The errors it lists, else its text if it is an error. */
  readonly errors: readonly string[];
  readonly status: number | null;
  /** Of this turn alone, or, where older CLIs do not report that, of all since the CLI's start. */
  readonly used: { readonly basis: "turn" | "process"; readonly tokens: StepTokens; readonly costUsd: number | null };
  readonly model: string | null;
  /** The event, without what is long or of no use later. */
  readonly kept: Readonly<Record<string, unknown>>;
}

const KEPT = [
  "session_id",
  "subtype",
  "is_error",
  "num_turns",
  "stop_reason",
  "terminal_reason",
  "duration_ms",
  "duration_api_ms",
  "api_error_status",
  "api_error_type",
];
const RESULT_CHARS = 4000;
/** The most that is kept of an error: patterns are searched in it, and an agent can write any length. */
export const ERROR_CHARS = 4096;
const ERRORS_KEPT = 100;
/** Of each object in a ledger. */
const DETAILS_KEPT = 16;
/** The host drops what matters from a large result, so a ledger that no CLI writes is left out. */
const LEDGER_CHARS = 8192;
const NAME_CHARS = 100;
/** Only numbers, flags and short texts become details of the host's result. */
const isDetail = (value: unknown): boolean =>
  typeof value === "number" || typeof value === "boolean" || (typeof value === "string" && value.length <= 200);

export function readResult(event: Fields): TurnResult {
  const text = textOf(event.result);
  const isError = event.is_error === true;
  const subtype = textOf(event.subtype);
  const listed = Array.isArray(event.errors) ? event.errors.slice(0, ERRORS_KEPT) : [];
  const reported = listed.map((error) => textOf(error).slice(0, ERROR_CHARS)).filter((error) => error !== "");
  const errors =
    reported.length > 0 || !isError ? reported : [text.slice(0, ERROR_CHARS) || `Claude Code ended with ${subtype || "an error"}`];
  const denied = Array.isArray(event.permission_denials) ? event.permission_denials.length : 0;
  const kept = KEPT.flatMap((key) => (isDetail(event[key]) ? [[key, event[key]] as const] : []));
  return {
    succeeded: subtype === "success" && !isError,
    subtype: subtype.slice(0, 200),
    stopReason: textOrNull(event.stop_reason),
    terminalReason: textOrNull(event.terminal_reason),
    text,
    errors,
    status: numberOrNull(event.api_error_status),
    used: usedBy(event),
    model: Object.keys(fieldsOf(event.modelUsage))[0] ?? null,
    kept: {
      ...Object.fromEntries(kept),
      result: text.slice(0, RESULT_CHARS),
      ...(denied > 0 ? { permission_denials: denied } : {}),
      ...ledgersOf(event),
    },
  };
}

/** What the CLI counted, as it wrote it; of a resumed session `modelUsage` includes earlier runs. */
function ledgersOf(event: Fields): Record<string, unknown> {
  const ledgers = { usage: details(event.usage, 2), modelUsage: details(event.modelUsage, 2) };
  const isKept = (ledger: Fields): boolean => Object.keys(ledger).length > 0 && JSON.stringify(ledger).length <= LEDGER_CHARS;
  return Object.fromEntries(Object.entries(ledgers).filter(([, ledger]) => isKept(ledger)));
}

/** The numbers, flags and short texts of an object, and of those in it: bounded, whatever an agent writes. */
function details(value: unknown, depth: number): Fields {
  const entries = Object.entries(fieldsOf(value)).slice(0, DETAILS_KEPT);
  return Object.fromEntries(
    entries.flatMap(([key, item]) => {
      if (key.length > NAME_CHARS) return [];
      if (isDetail(item)) return [[key, item]];
      const inner = depth > 1 ? details(item, depth - 1) : {};
      return Object.keys(inner).length > 0 ? [[key, inner]] : [];
    }),
  );
}

/** `modelUsage` and `total_cost_usd` count a resumed session from its very first run on: each run would be paid for again. */
function usedBy(event: Fields): TurnResult["used"] {
  const turn = ledger(event.model_usage_since_last_result);
  if (turn !== null) return { basis: "turn", ...turn };
  const tokens = ledger(event.modelUsage)?.tokens ?? messageTokens(fieldsOf(event.usage));
  return { basis: "process", tokens, costUsd: numberOrNull(event.total_cost_usd) };
}

/** The answer is in earlier events; only its cost is new. */
export function resultEntries({ succeeded, errors, stopReason, used: { tokens, costUsd } }: TurnResult): Entry[] {
  const failures: Entry[] = succeeded ? [] : errors.map((text) => ({ kind: "error", text }));
  const used = tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite > 0;
  if (!succeeded && !used) return failures;
  return [...failures, { kind: "step_end", reason: stopReason ?? "end_turn", goesOn: false, tokens, costUsd: costUsd ?? 0 }];
}

/**
 * The `result` event. Its keys come in no fixed order, and a tool's output may hold the same words; all other events begin with their type.
 * After it Claude Code waits for commands it left running in the background, for minutes.
 */
export const finalLinePattern = String.raw`^\{(?:"type":"result",|(?!"type":)(?=.*"num_turns":).*"type":"result"[,}])`;

/** When a background command ends, the model is asked again: a new turn begins with its own init event. */
export const takenBackBy = String.raw`^\{"type":"system","subtype":"init",`;

/** How long the background may take before it is ended with the run. */
export const END_AFTER_SEC = 30;
