/**
 * The `result` event. Its keys come in no fixed order, and a tool's output may hold the same words; all other events begin with their type.
 * After it Claude Code waits for commands it left running in the background, for minutes.
 */
export const finalLinePattern = String.raw`^\{(?:"type":"result",|(?!"type":)(?=.*"num_turns":).*"type":"result"[,}])`;

/** When a background command ends, the model is asked again: a new turn begins with its own init event. */
export const takenBackBy = String.raw`^\{"type":"system","subtype":"init",`;

/** How long the background may take before it is ended with the run. */
export const END_AFTER_SEC = 30;
