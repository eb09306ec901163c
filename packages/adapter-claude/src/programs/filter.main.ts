// A hook of Claude Code: it reads a tool's output on stdin and answers with a shorter one. Whatever goes wrong, the output stays as it is.
import { readFileSync } from "node:fs";
import { shorten } from "./shorten-output.ts";

try {
  const maxBytes = Number(process.argv[2]);
  const { tool_response: output } = JSON.parse(readFileSync(0, "utf8")) as { tool_response?: unknown };
  const updatedToolOutput = maxBytes > 0 ? shorten(output, maxBytes) : undefined;
  if (updatedToolOutput !== undefined)
    process.stdout.write(JSON.stringify({ hookSpecificOutput: { hookEventName: "PostToolUse", updatedToolOutput } }));
} catch {
  process.exitCode = 0;
}
