import type { Conversation } from "./conversation.ts";

/** What the model does in answer to one request. */
export type Reply =
  | {
      readonly kind: "text";
      readonly text: string;
      readonly reasoning?: string;
      readonly seconds?: number;
      /** How the answer ends; by itself unless set. */
      readonly end?: "cut-off" | "refused" | "broken-off";
    }
  | {
      readonly kind: "tool";
      readonly tool: string;
      readonly input: Readonly<Record<string, unknown>>;
      readonly seconds?: number;
      readonly weight?: number;
      /** How many of the same call at once; one unless set. */
      readonly times?: number;
    }
  | {
      readonly kind: "error";
      readonly status: number;
      readonly type: string;
      readonly message: string;
      readonly retryAfterSec?: number;
      readonly resetAt?: number;
    }
  | { readonly kind: "drop" }
  | { readonly kind: "hang" };

/** The words a prompt may contain and what happens then, for people. */
export const vocabulary: Readonly<Record<string, string>> = {
  "use-tool": "one bash call that prints a greeting, then text",
  "heavy-tool": "as use-tool, but the call reports ten times the tokens, to fill a context",
  "fail-tool": "one bash call that exits with 3, then text",
  "bad-tool": "reads a file that does not exist (a tool error), then text",
  "bash:<command>": "one bash call with the rest of the line, up to a comment, then text",
  "repeat:<command>": "the same bash call in each step until it prints the word enough, then text",
  "call:<tool> <json>": "one call of any tool that is offered, then text",
  "many-steps": "a bash call in every step until the CLI tells the model to stop",
  "endless-steps": "a bash call in every step, whatever the CLI says",
  "eat-memory-N": "one bash call that holds N MB for three seconds, then text",
  "say:<text>": "answers with the rest of the line",
  "twice:<tool> <json>": "two of the same call at once, then text",
  remember: "answers with the list of user texts received so far",
  think: "reasons before the text",
  "slow-N": "the answer takes N seconds",
  "cut-off": "text that ends because the output limit was reached",
  "break-off": "the connection ends in the middle of the text",
  refuse: "the model declines: stop reason refusal",
  "say-nothing": "an answer without any text",
  "model-error": "HTTP 400, invalid request",
  unauthorized: "HTTP 401, invalid key",
  "no-such-model": "HTTP 404, model not found",
  "too-long": "HTTP 400, context length exceeded",
  quota: "HTTP 429 with retry-after",
  "usage-limit": "HTTP 429 of a subscription: with the time when its limit is reset",
  "corrupted-session": "HTTP 400 about a message id, in a resumed session only",
  "bad-image": "HTTP 400 about an image, in a resumed session only",
  overloaded: "HTTP 529 (Anthropic) or 503 (OpenAI)",
  drop: "closes the connection in the middle of the answer",
  hang: "never answers",
};

export const refusalText = "I can't help with that.";
export const defaultText = "All done: scripted answer.";
export const titleText = "Scripted title";
export const summaryText = "Scripted summary of the conversation.";

const errors: Readonly<Record<string, Omit<Extract<Reply, { kind: "error" }>, "kind">>> = {
  "model-error": { status: 400, type: "invalid_request_error", message: "Scripted refusal: the request is not valid." },
  unauthorized: { status: 401, type: "authentication_error", message: "Scripted refusal: invalid API key." },
  "no-such-model": { status: 404, type: "not_found_error", message: "Scripted refusal: the model does not exist." },
  "too-long": {
    status: 400,
    type: "invalid_request_error",
    message: "This model's maximum context length is 1000 tokens. Your prompt is too long: 1200 tokens > 1000 maximum.",
  },
  quota: { status: 429, type: "rate_limit_error", message: "Scripted refusal: quota exceeded.", retryAfterSec: 3600 },
  "usage-limit": { status: 429, type: "rate_limit_error", message: "Scripted refusal: usage limit reached.", resetAt: 1_900_000_000 },
  overloaded: { status: 503, type: "overloaded_error", message: "Scripted refusal: overloaded." },
};

/** The one key that is not accepted, whatever the prompt says. */
export const WRONG_KEY = "wrong-key";

/** An error that comes of the agent's settings, not of its task: by the wrong key, or by a model with the name of an error. */
export function errorOfSettings(apiKey: string, model: string): Reply | null {
  const error = errors[apiKey === WRONG_KEY ? "unauthorized" : model];
  return error === undefined ? null : { kind: "error", ...error };
}

const corrupted: typeof errors = {
  "corrupted-session": {
    status: 400,
    type: "invalid_request_error",
    message: "diagnostics.previous_message_id: must be an id of this API that starts with `msg_`",
  },
  "bad-image": { status: 400, type: "invalid_request_error", message: "messages.2.content.0.image.source: Could not process image" },
};

// Whole words only: "changes" must not hang, nor "rethink" think.
const has = (prompt: string, word: string): boolean => new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(prompt);

const bash = (command: string, description: string): Reply => ({ kind: "tool", tool: "bash", input: { command, description } });

// `tail` must keep a stream without newlines whole, and cannot let go of it before its reader reads.
const holdMemory = (megabytes: number) => `head -c ${megabytes * 1_048_576} /dev/zero | tail -n 1 | { sleep 3; wc -c; }`;

// What follows a comment sign is not the command's: a host repeats its task inside JSON, where the line goes on.
const commandAfter = (word: string, prompt: string): string | undefined =>
  new RegExp(`\\b${word}:(.+?)(?: #.*)?$`, "m").exec(prompt)?.[1]?.trim();

function toolCall(prompt: string): Reply | undefined {
  if (has(prompt, "use-tool")) return bash("echo hello-from-tool", "Print a greeting");
  if (has(prompt, "heavy-tool")) return { ...bash("echo hello-from-tool", "Print a greeting"), weight: 10 } as Reply;
  if (has(prompt, "fail-tool")) return bash("echo about-to-fail >&2; exit 3", "Fail on purpose");
  if (has(prompt, "bad-tool"))
    return { kind: "tool", tool: "read", input: { filePath: "missing/file.txt", file_path: "missing/file.txt" } };
  const command = commandAfter("bash", prompt);
  if (command) return bash(command, "Run the given command");
  const named = /\b(call|twice):(\S+) (\{.*\})/.exec(prompt);
  if (named) return { kind: "tool", tool: named[2]!, input: JSON.parse(named[3]!), times: named[1] === "twice" ? 2 : 1 };
  const megabytes = /eat-memory-(\d+)/.exec(prompt)?.[1];
  if (megabytes) return bash(holdMemory(Number(megabytes)), "Hold memory");
  return undefined;
}

function answer(prompt: string, userTexts: readonly string[]): Reply {
  if (has(prompt, "remember")) return { kind: "text", text: userTexts.map((text, i) => `${i + 1}. ${text.trim()}`).join("\n") };
  if (has(prompt, "think")) return { kind: "text", text: defaultText, reasoning: "The script asks me to think first." };
  if (has(prompt, "cut-off")) return { kind: "text", text: "This answer stops in the mid", end: "cut-off" };
  if (has(prompt, "break-off")) return { kind: "text", text: "This answer never gets to its end.", end: "broken-off" };
  if (has(prompt, "refuse")) return { kind: "text", text: refusalText, end: "refused" };
  if (has(prompt, "say-nothing")) return { kind: "text", text: "" };
  return { kind: "text", text: /\bsay:(.+)/.exec(prompt)?.[1]?.trim() ?? defaultText };
}

// Tool names differ by CLI ("bash", "Bash"); a tool that was not offered cannot be called.
function offered(reply: Reply | undefined, toolNames: readonly string[]): Reply | undefined {
  if (reply?.kind !== "tool") return undefined;
  const tool = toolNames.find((name) => name.toLowerCase() === reply.tool.toLowerCase());
  return tool === undefined ? undefined : { ...reply, tool };
}

function nextCall(prompt: string, { toolResults, stepLimitReached }: Conversation): Reply | undefined {
  const step = bash(`echo step ${toolResults.length + 1}`, "One more step");
  if (has(prompt, "endless-steps")) return step;
  if (has(prompt, "many-steps")) return stepLimitReached ? undefined : step;
  const repeated = commandAfter("repeat", prompt);
  if (repeated) return has(toolResults.at(-1) ?? "", "enough") ? undefined : bash(repeated, "Once more");
  return toolResults.length === 0 ? toolCall(prompt) : undefined;
}

/** The newest user text picks the reply; requests for a session's title or summary are no turns of the script. */
export function chooseReply(conversation: Conversation): Reply {
  const { system, userTexts, toolNames } = conversation;
  if (toolNames.length === 0 && /summari[sz]ation/i.test(system)) return { kind: "text", text: summaryText };
  if (toolNames.length === 0 && /title/i.test(system)) return { kind: "text", text: titleText };
  const prompt = userTexts.at(-1) ?? "";
  for (const [word, error] of Object.entries(errors)) if (has(prompt, word)) return { kind: "error", ...error };
  const resumed = userTexts.length > 1;
  for (const [word, error] of Object.entries(corrupted)) if (resumed && has(prompt, word)) return { kind: "error", ...error };
  if (has(prompt, "hang")) return { kind: "hang" };
  if (has(prompt, "drop")) return { kind: "drop" };
  const call = nextCall(prompt, conversation);
  const seconds = Number(/slow-(\d+(?:\.\d+)?)/.exec(prompt)?.[1] ?? 0);
  return { ...(offered(call, toolNames) ?? answer(prompt, userTexts)), seconds } as Reply;
}
