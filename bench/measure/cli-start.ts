import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { startLlm } from "@paperclip-k8s/llm";
import { type AdapterKit, type CliName, cliNames, loadKits } from "../../packages/adapters.ts";
import { emptyForNextPod, makeHome, type PlannedCall, plannedCall } from "../../packages/paperclip/src/testing/planned-call.ts";
import { median, ms, type Row } from "../figures.ts";

const kits = await loadKits();

/** One start of a real CLI against the scripted model. */
interface Start {
  readonly firstMs: number;
  readonly cpuMs: number;
  readonly requests: number;
  readonly sessionId: string | null;
}

type Llm = Awaited<ReturnType<typeof startLlm>>;

/** How long each real CLI takes to its first output, started by hand as in a pod, with the adapter's cuts and without; in turns. */
export async function measureCliStart(rounds: number): Promise<Row[]> {
  const llm = await startLlm();
  try {
    const rows: Row[] = [];
    for (const name of cliNames) rows.push(...(await measureOne(llm, name, rounds)));
    return rows;
  } finally {
    await llm.stop();
  }
}

async function measureOne(llm: Llm, name: CliName, rounds: number): Promise<Row[]> {
  const starts = { cut: { fresh: [] as Start[], resumed: [] as Start[] }, whole: { fresh: [] as Start[], resumed: [] as Start[] } };
  // The first of each is not counted: the machine reads the program from its disk.
  for (let round = 0; round <= rounds; round++)
    for (const way of ["cut", "whole"] as const) {
      const [fresh, resumed] = await session(llm, name, way === "whole");
      if (round > 0) starts[way].fresh.push(fresh);
      if (round > 0) starts[way].resumed.push(resumed);
    }
  return (["fresh", "resumed"] as const).map((kind) => ({
    what: `${kits[name].title}, started by hand → first output, ${kind === "fresh" ? "new" : "resumed"} session: medians of ${rounds}`,
    budget: "no more than without cuts",
    measured: `${figures(starts.cut[kind])}; without cuts ${figures(starts.whole[kind])}`,
    // CPU, because other work on the machine is in the time.
    ok: median(starts.cut[kind].map(({ cpuMs }) => cpuMs)) <= median(starts.whole[kind].map(({ cpuMs }) => cpuMs)) * 1.1,
  }));
}

const figures = (starts: readonly Start[]): string => {
  const of = (field: "firstMs" | "cpuMs" | "requests") => median(starts.map((start) => start[field]));
  return `${ms(of("firstMs"))}, ${ms(of("cpuMs"))} CPU, ${of("requests")} requests to the model`;
};

/** A new session and its second turn, in homes as two pods would have them. */
async function session(llm: Llm, name: CliName, uncut: boolean): Promise<[Start, Start]> {
  const { cli, start, scriptedModel }: AdapterKit = kits[name];
  const program = fileURLToPath(new URL(`../../node_modules/.bin/${name}`, import.meta.url));
  const { model, provider } = scriptedModel(llm);
  const run = { model, env: { ...provider, ...start.env, ...(uncut && start.uncut.env) }, own: uncut ? start.uncut.own : {} };
  const place = makeHome();
  try {
    const first = await started(llm, name, await plannedCall(cli, program, place.home, run));
    await emptyForNextPod(cli, program, place.home, run);
    const again = { ...run, sessionId: first.sessionId };
    return [first, await started(llm, name, await plannedCall(cli, program, place.home, again))];
  } finally {
    place.remove();
  }
}

async function started(llm: Llm, name: CliName, { command, args, cwd, env }: PlannedCall): Promise<Start> {
  const before = llm.requests.length;
  const parser = kits[name].cli.createParser();
  const begun = performance.now();
  // The shell says what its children used.
  const child = spawn("/bin/bash", ["-c", '"$@"; code=$?; times >&2; exit $code', "bash", command, ...args], { cwd, env: { ...env } });
  const seen = { firstMs: Number.NaN, stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (seen.stdout === "") seen.firstMs = performance.now() - begun;
    seen.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    seen.stderr += text;
  });
  child.stdin.end("say: hello");
  const code = await new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve));
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${seen.stderr}`);
  for (const line of seen.stdout.split("\n")) parser.push(line);
  const requests = llm.requests.slice(before).filter(({ method }) => method === "POST").length;
  return { firstMs: seen.firstMs, cpuMs: cpuIn(seen.stderr), requests, sessionId: parser.report().sessionId };
}

/** The last line of `times`: user and system time of the children. */
function cpuIn(stderr: string): number {
  const times = [...(stderr.trim().split("\n").at(-1) ?? "").matchAll(/(\d+)m([\d.]+)s/g)];
  return times.reduce((sum, [, minutes, seconds]) => sum + (Number(minutes) * 60 + Number(seconds)) * 1000, 0);
}
