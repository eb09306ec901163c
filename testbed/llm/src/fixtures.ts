// Recorded runs of real CLIs: two files each, `<name>.ndjson` as the CLI wrote it and `<name>.fixture.json` with the facts about it.
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CliRun } from "./run-cli.ts";
import { startLlm } from "./server.ts";
import { createStabiliser, type Volatile } from "./stabilise.ts";

export interface Fixture {
  readonly lines: readonly string[];
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export function loadFixture(folder: URL, name: string): Fixture {
  const read = (file: string) => readFileSync(new URL(file, folder), "utf8");
  const lines = read(`${name}.ndjson`).split("\n");
  const facts = JSON.parse(read(`${name}.fixture.json`)) as Omit<Fixture, "lines">;
  return { ...facts, lines: lines.slice(0, -1) };
}

/** What every case has, whichever CLI it is for. */
export interface FixtureCase {
  readonly about: string;
  /** Turns of one session; the output of the last one is kept. */
  readonly prompts: readonly string[];
  readonly sessionId?: string;
}

/** One turn of a case: where it runs, and how it went on. */
export interface FixtureTurn {
  readonly home: string;
  readonly llmUrl: string;
  readonly prompt: string;
  readonly sessionId: string | null;
}

export interface Recorder<Case extends FixtureCase> {
  /** Where the recordings go. */
  readonly folder: URL;
  readonly cases: Readonly<Record<string, Case>>;
  /** What else differs from one recording to the next. */
  readonly volatile: readonly Volatile[];
  run(fixture: Case, turn: FixtureTurn): Promise<CliRun & { readonly args: readonly string[] }>;
  sessionIn(stdout: string): string | undefined;
}

/** Records the cases that are named on the command line, or all. */
export async function recordFixtures<Case extends FixtureCase>(recorder: Recorder<Case>, wanted = process.argv.slice(2)): Promise<void> {
  for (const [name, fixture] of Object.entries(recorder.cases))
    if (wanted.length === 0 || wanted.includes(name)) await record(recorder, name, fixture);
}

async function record<Case extends FixtureCase>(recorder: Recorder<Case>, name: string, fixture: Case): Promise<void> {
  const llm = await startLlm();
  const home = await mkdtemp(join(tmpdir(), "fixture-"));
  const stable = createStabiliser({ [home]: "/home/agent", [llm.url]: "http://llm.example" }, recorder.volatile);
  try {
    await mkdir(join(home, "work"));
    let sessionId = fixture.sessionId ?? null;
    let ran: Awaited<ReturnType<typeof recorder.run>> | undefined;
    for (const prompt of fixture.prompts) {
      ran = await recorder.run(fixture, { home, llmUrl: llm.url, prompt, sessionId });
      sessionId = recorder.sessionIn(ran.stdout) ?? sessionId;
    }
    if (!ran) throw new Error(`${name} has no prompt`);
    const { stdout, stderr, args, exitCode, signal } = ran;
    await writeFile(new URL(`${name}.ndjson`, recorder.folder), stable(stdout));
    const facts = { about: fixture.about, prompts: fixture.prompts, args: args.map(stable), exitCode, signal, stderr: stable(stderr) };
    await writeFile(new URL(`${name}.fixture.json`, recorder.folder), `${JSON.stringify(facts, null, 2)}\n`);
    console.log(`${name}: exit ${exitCode ?? signal}, ${stdout.split("\n").length - 1} lines`);
  } finally {
    await llm.stop();
    await rm(home, { recursive: true, force: true });
  }
}
