import type { ToolCallEntry } from "../../agent-cli/entry.ts";
import { type Fields, parseFields } from "../../agent-cli/json-fields.ts";
import { unfold } from "./fold.ts";

// Apart from the writing side, which needs Node: this is part of what the host's page loads.

/** The field of the input that the title shows when the line names none. */
export const USUAL_FIELD = "command";

/** `bash  echo hello  {"description":"Greet"}  #call_1` or `read filePath  a.txt  #call_2`, behind the mark. */
export function readToolCall(line: string): ToolCallEntry | undefined {
  const parts = /^(\S+)(?: (\S+))?( {2}.*)? {2}#(\S*)$/s.exec(line);
  if (!parts) return undefined;
  const [, tool = "", field = USUAL_FIELD, middle = "", id = ""] = parts;
  const { before, fields } = splitFields(middle);
  const title = unfold(before.slice(2));
  return { kind: "tool_call", id, tool, title, input: { ...(title === "" ? {} : { [field]: title }), ...fields } };
}

// The JSON reaches to the end, so the first place from which everything is JSON is its start.
function splitFields(text: string): { readonly before: string; readonly fields: Fields } {
  for (let at = text.indexOf("  {"); at !== -1 && text.endsWith("}"); at = text.indexOf("  {", at + 1)) {
    const fields = parseFields(text.slice(at + 2));
    if (fields !== undefined) return { before: text.slice(0, at), fields };
  }
  return { before: text, fields: {} };
}
