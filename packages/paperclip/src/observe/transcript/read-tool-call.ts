import type { ToolCallEntry } from "../../agent-cli/entry.ts";
import { unfold } from "./fold.ts";

/** The field of the input that the title shows when the line names none. */
export const USUAL_FIELD = "command";

type Fields = Readonly<Record<string, unknown>>;

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
  if (!text.endsWith("}")) return { before: text, fields: {} };
  for (let at = text.indexOf("  {"); at !== -1; at = text.indexOf("  {", at + 1)) {
    try {
      return { before: text.slice(0, at), fields: JSON.parse(text.slice(at)) as Fields };
    } catch {}
  }
  return { before: text, fields: {} };
}
