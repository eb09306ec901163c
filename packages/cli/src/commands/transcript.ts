import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { AgentCli } from "@paperclip-k8s/paperclip/agent-cli/agent-cli";
import { dataFolder, KEPT_OUTPUTS, parseKeptOutput, parseOutputFile } from "@paperclip-k8s/paperclip/paths";
import { TranscriptLines } from "@paperclip-k8s/paperclip/transcript/to-lines";
import { agentClis } from "../../../agent-clis.ts";
import type { TranscriptCommand } from "../arguments/transcript.ts";
import { foldersIn } from "../leftovers/run-files.ts";
import { EXIT, type ExitCode, type Terminal } from "../terminal.ts";
import { eachLine, parsed, readOutput } from "../unattended/kept-output.ts";

interface Attempt {
  readonly run: string;
  readonly number: number;
  readonly output: string;
  /** Only its last lines were kept. */
  readonly isEnd: boolean;
}

/** Prints what an agent did as the run's page would show it, from the output that is kept on the volume. */
export async function transcript({ run, data, instance }: TranscriptCommand, terminal: Terminal, most?: number): Promise<ExitCode> {
  const { err } = terminal;
  const folder = dataFolder({ dataPath: data, instanceId: instance }, "run-logs");
  // A run that took a Job over has a folder, and its output is in that of the run before.
  const isKept = (each: Attempt): boolean => each.run.startsWith(run) && existsSync(each.output);
  const found = (await attemptsBelow(folder)).filter(isKept).toSorted((a, b) => a.number - b.number);
  const runs = new Set(found.map((each) => each.run));
  if (runs.size !== 1) {
    const what = runs.size === 0 ? `no output of run ${run} is kept` : `the runs ${[...runs].join(", ")} begin with ${run}`;
    err(`${what} below ${folder}`);
    return EXIT.error;
  }
  for (const { output, number, isEnd } of found) {
    err(`${found.length === 1 ? "" : `attempt ${number}: `}${isEnd ? "the end of the output, " : ""}${output}`);
    await printOutput(output, terminal, most);
  }
  return EXIT.done;
}

async function attemptsBelow(folder: string): Promise<Attempt[]> {
  const found: Attempt[] = [];
  for (const company of await foldersIn(folder))
    for (const agent of await foldersIn(join(folder, company))) {
      const place = join(folder, company, agent);
      const files = (await readdir(place)).flatMap((name) => parseOutputFile(name) ?? []);
      found.push(...(await keptBelow(place)));
      for (const { runId, attempt, output } of files)
        found.push({ run: runId, number: attempt, output: join(place, output), isEnd: false });
    }
  // Files of earlier versions have two names beside the output, and a whole output is worth more than its end.
  return [...new Map(found.map((each) => [`${each.run} ${each.number}`, each])).values()];
}

/** The ends of outputs whose runs are over. */
async function keptBelow(place: string): Promise<Attempt[]> {
  if (!(await foldersIn(place)).includes(KEPT_OUTPUTS)) return [];
  const folder = join(place, KEPT_OUTPUTS);
  return (await readdir(folder)).flatMap((name) => {
    const file = parseKeptOutput(name);
    return file === null ? [] : [{ run: file.runId, number: file.attempt, output: join(folder, name), isEnd: true }];
  });
}

/** Line by line as it is read: an output may be longer than what fits into memory. */
async function printOutput(output: string, { out, err }: Terminal, most?: number): Promise<void> {
  const cli = await cliOf(output);
  if (cli === null) return out("(no event of a known agent CLI is in it)");
  const [parser, transcriptLines] = [cli.createParser(), new TranscriptLines()];
  const print = (lines: readonly string[]): void => {
    for (const line of lines) out(line);
  };
  const read = await eachLine(output, (line) => print(transcriptLines.push(parsed(parser, line))), most);
  print(transcriptLines.end());
  if (read?.isCut) err(`only the first ${read.bytes} bytes were read: there is more in ${output}`);
}

/** The CLI whose parser knows the most of it: the files do not say which one wrote them. */
async function cliOf(output: string): Promise<AgentCli | null> {
  let best: { readonly cli: AgentCli; readonly events: number } | null = null;
  for (const load of Object.values(agentClis)) {
    const cli: AgentCli = await load();
    const events = (await readOutput(output, cli, null))?.report.events ?? 0;
    if (events > (best?.events ?? 0)) best = { cli, events };
  }
  return best?.cli ?? null;
}
