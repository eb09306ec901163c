import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { AgentCli } from "../../../../packages/paperclip/src/agent-cli/agent-cli.ts";
import { TranscriptLines } from "../../../../packages/paperclip/src/observe/transcript/to-lines.ts";
import type { AdapterType } from "../../src/agent-kinds.ts";
import { runEnd } from "../../src/host/follow.ts";
import type { AnyStage } from "../../src/stage.ts";
import { until } from "../../src/wait.ts";

/** Many issues for one agent at the same time: all are worked on, and each run's transcript is what its file says, line by line. */
export async function manyAtOnce(stage: AnyStage, cli: AgentCli, count: number, fileHere: (path: string) => string): Promise<void> {
  const { company } = stage;
  // The files stay, to be compared with.
  const agent = await company.hire("Many", cli.type, { ...stage.config(cli.type as AdapterType), retainJobs: true });
  const task = (index: number) => `bash:close-issue && seq 1 ${20 + index} #`;
  const issues = await Promise.all(Array.from({ length: count }, (_, index) => company.assign(agent.id, `Issue ${index}`, task(index))));
  const runs = await until(`${count} runs`, async () => {
    const all = await company.runs(agent.id);
    return all.length >= count && all;
  });
  const ended = await Promise.all(runs.map(({ id }) => runEnd(company, id)));
  expect(ended.map(({ status, error }) => error ?? status)).toEqual(Array(count).fill("succeeded"));
  for (const { id } of issues) expect(await company.issue(id)).toMatchObject({ status: "done" });
  for (const { id } of ended) {
    const log = (await company.log(id)).map(({ chunk }) => chunk).join("");
    const file = /and (\S+) are kept/.exec(log)?.[1];
    if (file === undefined) throw new Error(`the log of run ${id} names no file:\n${log}`);
    const shown = log.split("\n").filter((line) => line !== "" && !line.startsWith("[paperclip]"));
    expect(shown).toEqual(linesOf(cli, readFileSync(fileHere(file), "utf8")));
    expect(shown.length).toBeGreaterThan(3);
  }
}

/** What the CLI's own output becomes on the host's page. */
function linesOf(cli: AgentCli, output: string): string[] {
  const transcript = new TranscriptLines();
  const parser = cli.createParser();
  return output
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line) => transcript.push(parser.push(line)));
}
