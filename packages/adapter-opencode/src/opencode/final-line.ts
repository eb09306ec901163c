/**
 * Source of a regular expression for lines after which OpenCode has nothing more to do: an error, or a step that asks for no tool.
 * More output may still follow, because a compaction ends with such a step too: a later line takes the word back.
 */
export const finalLinePattern = String.raw`^\{"type":"(?:error",|step_finish",.*"reason":"(?!tool-calls"))`;
