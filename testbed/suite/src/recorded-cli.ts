import { access, chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Fixture, loadFixture } from "@paperclip-k8s/llm/fixtures";
import { adapters, type CliName, loadKits } from "../../../packages/adapters.ts";

const kits = await loadKits();

/** A program on the volume that writes again what the real CLI wrote when it was recorded. */
export interface RecordedCli {
  /** For the agent's setting of this name. */
  readonly command: string;
  /** How it was called, in order. */
  calls(): Promise<readonly RecordedCall[]>;
  /** Lets it write its last line, where `hold` keeps it back. */
  release(): Promise<void>;
}

export interface RecordedCall {
  readonly args: readonly string[];
  readonly stdin: string;
}

export const loadRecording = (cli: CliName, name: string): Fixture =>
  loadFixture(new URL(`../../../packages/${adapters[cli].folder}/fixtures/`, import.meta.url), name);

/** Its first call plays the first recording (by name, or made up by the test), and so on; the last one is played again. `hold`: it waits before its last line until it is released. */
export async function placeRecordedCli(
  folder: string,
  cli: CliName,
  recordings: readonly (string | Fixture)[],
  { hold = false }: { readonly hold?: boolean } = {},
): Promise<RecordedCli> {
  await mkdir(join(folder, "calls"), { recursive: true });
  // The pod may have another user than the test.
  await chmod(join(folder, "calls"), 0o777);
  const plays: Fixture[] = recordings.map((each) => (typeof each === "string" ? loadRecording(cli, each) : each));
  await writeFile(join(folder, "recordings.json"), JSON.stringify({ plays, hold, leaves: kits[cli].sessionFolders }));
  const command = join(folder, "recorded-cli");
  await writeFile(command, PROGRAM, { mode: 0o755 });
  await access(command);
  return {
    command,
    calls: async () => {
      const names = (await readdir(join(folder, "calls"))).sort();
      return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, "calls", name), "utf8"))));
    },
    release: () => writeFile(join(folder, "release"), ""),
  };
}

const PROGRAM = `#!/usr/bin/env node
const fs = require("node:fs");
const at = (...parts) => require("node:path").join(__dirname, ...parts);
const args = process.argv.slice(2);
if (args.includes("--version")) {
  console.log("1.0.0 (recorded)");
  process.exit(0);
}
const { plays, hold, leaves } = JSON.parse(fs.readFileSync(at("recordings.json"), "utf8"));
let stdin = "";
process.stdin.setEncoding("utf8").on("data", (text) => { stdin += text; }).on("end", () => {
  const number = fs.readdirSync(at("calls")).length;
  fs.writeFileSync(at("calls", String(number)), JSON.stringify({ args, stdin }));
  play(plays[Math.min(number, plays.length - 1)]);
});
function play({ lines, stderr, exitCode, signal }) {
  // As the real one keeps its sessions: what is there after the run is what the runner saves.
  for (const folder of leaves) {
    fs.mkdirSync(require("node:path").join(process.env.HOME, folder), { recursive: true });
    fs.appendFileSync(require("node:path").join(process.env.HOME, folder, "session.jsonl"), "{}\\n");
  }
  process.stderr.write(stderr);
  const end = () => {
    for (const line of lines.slice(-1)) process.stdout.write(line + "\\n");
    if (signal !== null) process.kill(process.pid, signal);
    process.exitCode = exitCode;
  };
  for (const line of lines.slice(0, -1)) process.stdout.write(line + "\\n");
  if (!hold) return end();
  const timer = setInterval(() => {
    if (!fs.existsSync(at("release"))) return;
    clearInterval(timer);
    end();
  }, 20);
}
`;
