export type { Conversation, WireMessage } from "./conversation.ts";
export { type Outside, startOutside } from "./outside.ts";
export { defaultText, type Reply, refusalText, summaryText, titleText, vocabulary, WRONG_KEY } from "./script.ts";
export { type Llm, type LlmOptions, type LlmRequest, startLlm } from "./server.ts";
export { type ScriptedModel, type ScriptedOptions, scriptedSettings } from "./settings.ts";
export { usage } from "./usage.ts";
