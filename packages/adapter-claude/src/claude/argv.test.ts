import { expect, test } from "vitest";
import { argv } from "./argv.ts";

test("a fresh turn with everything", () => {
  const all = argv({
    model: "claude-opus-5-5",
    effort: "high",
    maxTurns: 7,
    instructionsFile: "/b/agent-instructions.md",
    bundleFolder: "/b",
    mcpConfig: { file: "mcp.json" },
    settings: { file: "settings.json" },
    extraArgs: ["word", "--flag"],
  });
  expect(all).toEqual([
    ...["claude", "--print", "--output-format", "stream-json", "--add-dir", "/b"],
    ...["--mcp-config", { file: "mcp.json" }, "--strict-mcp-config", "--verbose", "--dangerously-skip-permissions"],
    ...["--model", "claude-opus-5-5", "--effort", "high", "--max-turns", "7"],
    ...["--append-system-prompt-file", "/b/agent-instructions.md", "--settings", { file: "settings.json" }, "word", "--flag"],
  ]);
});

test("the least", () => {
  expect(argv()).toEqual(["claude", "--print", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]);
  expect(argv({ maxTurns: 0, skipPermissions: false })).not.toContain("--max-turns");
  expect(argv({ skipPermissions: false })).not.toContain("--dangerously-skip-permissions");
});

test("a resumed session keeps its system prompt", () => {
  const args = argv({ sessionId: "0b8a5b0e-0000-4000-8000-000000000000", instructionsFile: "/b/i.md", bundleFolder: "/b" });
  expect(args).not.toContain("--append-system-prompt-file");
  expect(args.join(" ")).toContain("--resume 0b8a5b0e-0000-4000-8000-000000000000");
});

test("what takes many values never stands before the user's arguments", () => {
  const args = argv({ bundleFolder: "/b", mcpConfig: { file: "m" }, skipPermissions: false, extraArgs: ["prompt"] });
  expect(args.at(-2)).toBe("--verbose");
});
