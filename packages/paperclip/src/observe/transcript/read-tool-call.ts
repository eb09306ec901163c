import { parseFields } from "../../agent-cli/json-fields.ts";
import { callName } from "./call-name.ts";
import { unfold } from "./fold.ts";

// Apart from the writing side, which needs Node: this is part of what the host's page loads.

/** Tools whose calls the host's page shows as commands. */
const SHELLS: readonly string[] = ["bash", "shell"];

/** A call as the host's page shows it. */
interface ReadCall {
  readonly id: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** `bash  echo hello`, `bash (2)  echo hello`, `todo  {"list":[]}` or only `todo`, behind the mark. */
export function readToolCall(line: string): ReadCall | undefined {
  const parts = /^(\S+)(?: \(\d+\))?(?: {2}(.*))?$/s.exec(line);
  if (!parts) return undefined;
  const [, tool = "", folded = ""] = parts;
  return { id: callName(line), tool, input: inputOf(tool, unfold(folded)) };
}

function inputOf(tool: string, title: string): Readonly<Record<string, unknown>> {
  if (title === "") return {};
  if (SHELLS.includes(tool.toLowerCase())) return { command: title };
  return parseFields(title) ?? { title };
}
