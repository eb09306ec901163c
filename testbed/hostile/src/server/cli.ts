import { readFileSync } from "node:fs";
import type { AgentCli, CliParser } from "@paperclip-k8s/paperclip";
import { exampleCli } from "@paperclip-k8s/paperclip/testing/example-cli";
import { silentReport } from "@paperclip-k8s/paperclip/testing/silent-report";

/** An agent CLI that is the test bed's own program, innocent or not. */
export function programCli(file: string): AgentCli {
  const text = readFileSync(file, "utf8");
  return {
    ...exampleCli,
    state: {
      parts: [{ kind: "files", path: ".agent" }],
      claim: { prefix: "agent-db-", env: () => ({}) },
      version: () => ["node", "--version"],
      seeds: [],
    },
    plan: () => ({ argv: ["node", { file: "program.cjs" }], files: { "program.cjs": text }, plainEnv: {}, secretEnv: {}, notes: [] }),
    createParser,
  };
}

interface Line {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly session?: unknown;
  readonly cost?: unknown;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function createParser(): CliParser {
  let report = silentReport;
  return {
    push: (line) => {
      const { type, text, session, cost } = parsed(line);
      if (type !== "say" && type !== "final") return [{ kind: "other", text: line }];
      report = { ...report, events: report.events + 1, text: textOf(text) };
      if (type === "final")
        report = { ...report, finished: true, sessionId: textOf(session), costUsd: typeof cost === "number" ? cost : null };
      return [{ kind: "assistant", text: textOf(text) }];
    },
    report: () => report,
    fault: () => null,
  };
}

function parsed(line: string): Line {
  try {
    return (JSON.parse(line) as Line | null) ?? {};
  } catch {
    return {};
  }
}
