/** One request of a CLI, free of its wire format. */
export interface Conversation {
  readonly system: string;
  readonly userTexts: readonly string[];
  /** Tool results that came after the newest user text: how far the current script has got. */
  readonly toolResults: readonly string[];
  readonly toolNames: readonly string[];
  /** The CLI asked for text instead of another tool call: how a CLI puts its step limit to the model. */
  readonly stepLimitReached: boolean;
}

interface WireTool {
  readonly name?: string;
  readonly function?: { readonly name?: string };
}

interface WirePart {
  readonly type?: string;
  readonly text?: string;
  readonly content?: string | readonly WirePart[];
}

export interface WireMessage {
  readonly role: string;
  readonly content?: string | readonly WirePart[] | null;
}

/** The part of a request body that both wire formats share. */
export interface WireBody {
  readonly model?: string;
  readonly stream?: boolean;
  readonly system?: string | readonly WirePart[];
  readonly messages?: readonly WireMessage[];
  readonly tools?: readonly WireTool[];
}

type Content = WireMessage["content"];

function partsOf(content: Content): readonly WirePart[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
}

function textOf(content: Content): string {
  return partsOf(content)
    .filter((part) => part.type === "text")
    .map((part) => part.text ?? "")
    .join("\n");
}

// CLIs put notes of their own among the user's words; they must not pick a script.
const notes: readonly RegExp[] = [
  /<system-reminder>[\s\S]*?<\/system-reminder>/g,
  /^Your response above was stopped by a safety classifier[\s\S]*$/gm,
  /^Output token limit hit\.[\s\S]*$/gm,
  /^\[Your previous response had no visible output[^\]]*\]/gm,
];
const withoutNotes = (text: string): string => notes.reduce((rest, note) => rest.replace(note, ""), text);

// OpenAI has messages of role "tool", Anthropic has user messages with tool_result parts.
function toolResultsOf(message: WireMessage): string[] {
  if (message.role === "tool") return [textOf(message.content)];
  return partsOf(message.content)
    .filter((part) => part.type === "tool_result")
    .map((part) => textOf(part.content));
}

export function readConversation(body: WireBody): Conversation {
  const system = [textOf(body.system)];
  const userTexts: string[] = [];
  let toolResults: string[] = [];
  let stepLimitReached = false;
  for (const message of body.messages ?? []) {
    if (message.role === "system" || message.role === "developer") system.push(textOf(message.content));
    toolResults.push(...toolResultsOf(message));
    stepLimitReached = message.role === "assistant" && /MAXIMUM STEPS REACHED/.test(textOf(message.content));
    if (message.role !== "user") continue;
    const text = withoutNotes(textOf(message.content));
    if (text.trim() === "") continue;
    userTexts.push(text);
    toolResults = [];
  }
  const toolNames = (body.tools ?? []).map((tool) => tool.function?.name ?? tool.name ?? "");
  return { system: system.filter((text) => text !== "").join("\n"), userTexts, toolResults, toolNames, stepLimitReached };
}
