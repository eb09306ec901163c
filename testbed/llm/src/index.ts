export type { WireMessage } from "./conversation.ts";
export { defaultText, refusalText, summaryText, titleText, vocabulary } from "./script.ts";
export { type Llm, type LlmOptions, type LlmRequest, startLlm } from "./server.ts";
export { type ScriptedModel, type ScriptedOptions, scriptedSettings } from "./settings.ts";
export { usage } from "./usage.ts";
