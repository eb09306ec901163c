// A packed adapter on the oldest Node that a server may have: a real run and the Test button, on the embedded cluster.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { scriptedSettings } from "@paperclip-k8s/llm";
import { type CliName, loadKits } from "../packages/adapters.ts";
import { settingsFor, startBed } from "../testbed/suite/src/bed.ts";
import { bedPolicy, toolsFolder } from "../testbed/suite/src/bed-policy.ts";
import { placeRecordedCli } from "../testbed/suite/src/recorded-cli.ts";

const run = promisify(execFile);
const kits = await loadKits();
/** What is played back asks no model. */
const NO_MODEL = "http://127.0.0.1:1";

/** The Node that started npm, if it is an older one than the scripts'; null = there is none here. */
export async function olderNode(): Promise<{ readonly path: string; readonly version: string } | null> {
  const path = process.env.npm_node_execpath;
  if (path === undefined) return null;
  const version = (await run(path, ["--version"])).stdout.trim();
  return Number.parseInt(version.slice(1), 10) < Number.parseInt(process.versions.node, 10) ? { path, version } : null;
}

/** What the host does with an adapter, in plain JavaScript. */
const SERVER = `
const { entry, config, run } = JSON.parse(process.argv[1]);
const { createServerAdapter, type } = await import(entry);
const adapter = createServerAdapter();
const log = [];
const ctx = {
  runId: run, agent: { id: run, companyId: "company-1", name: "Tester" },
  runtime: { sessionId: null, sessionParams: null, sessionDisplayId: null, taskKey: run },
  config, context: { paperclipTaskMarkdown: "hello" },
  onLog: async (stream, chunk) => void log.push(chunk), onMeta: async () => {},
};
const { status, checks } = await adapter.testEnvironment({ companyId: "company-1", adapterType: type, config });
const { exitCode, errorMessage = null, summary } = await adapter.execute(ctx);
console.log(JSON.stringify({ test: status, errors: checks.filter(({ level }) => level === "error"), exitCode, errorMessage, summary, log: log.join("") }));
// The Job goes some seconds after the result.
setTimeout(() => process.exit(0), 5000);
`;

/** Throws unless the run is a success and the Test button finds no error. */
export async function runOn(node: string, cli: CliName, entry: string): Promise<void> {
  const bed = await startBed();
  try {
    const { command } = await placeRecordedCli(join(toolsFolder(bed), cli), cli, ["tool-call"]);
    const model = scriptedSettings(kits[cli].scriptedModel({ url: NO_MODEL }, { apiKey: "k" }));
    const config = { ...settingsFor(bed), ...model, command, graceSec: 5 };
    const given = JSON.stringify({ entry, config, run: randomUUID() });
    const env = { ...process.env, ...bedPolicy(bed.data) };
    const { stdout } = await run(node, ["--input-type=module", "-e", SERVER, given], { env, cwd: bed.data });
    const seen = JSON.parse(stdout) as { test: string; errors: unknown[]; exitCode: number; errorMessage: string | null; summary: string };
    if (seen.exitCode !== 0 || seen.errorMessage !== null || seen.summary !== "All done: scripted answer." || seen.errors.length > 0)
      throw new Error(`${entry} on ${node}: ${stdout}`);
  } finally {
    await bed.stop();
  }
}
