/**
 * Source of a regular expression for lines after which OpenCode normally has nothing more to do: a step that asks for no tool, or an error.
 * Not proof of the end: the summary step of a compaction looks the same and the work goes on after it, so that any later line takes the
 * word back. An overflow of the context is answered by a compaction and left out.
 */
export const finalLinePattern = String.raw`^\{"type":"(?:error",(?!.*"name":"ContextOverflowError")|step_finish",.*"reason":"(?!tool-calls"))`;
