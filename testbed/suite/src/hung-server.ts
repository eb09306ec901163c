// A server process for hung-volume.test.ts: runs agents, proves that its own file and name look-ups answer, and exits when it is asked to.
import { lookup } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { type AgentRun, runAgent, type Surroundings } from "./agents.ts";

/** One line on stdin. */
export type ServerCommand =
  | { readonly type: "run"; readonly name: string; readonly run: AgentRun }
  | { readonly type: "probe" }
  | { readonly type: "exit" };

/** One line on stdout. */
export type ServerEvent =
  | { readonly type: "log"; readonly name: string; readonly line: string }
  | {
      readonly type: "result";
      readonly name: string;
      readonly exitCode: number | null;
      readonly errorCode: string | null;
      readonly message: string;
    }
  | { readonly type: "answered" };

if (process.argv[2] !== undefined) serve(JSON.parse(process.argv[2]) as Surroundings);

function serve(surroundings: Surroundings): void {
  const report = (event: ServerEvent) => process.stdout.write(`${JSON.stringify(event)}\n`);
  const run = async ({ name, run }: Extract<ServerCommand, { type: "run" }>): Promise<void> => {
    const { result } = await runAgent(surroundings, { ...run, onLine: (line) => void report({ type: "log", name, line }) });
    const { exitCode, errorCode, errorMessage } = result;
    report({ type: "result", name, exitCode, errorCode: errorCode ?? null, message: errorMessage ?? "" });
  };
  const probe = async (): Promise<void> => {
    await Promise.all([lookup("localhost"), readFile("/etc/hostname").catch(() => {})]);
    report({ type: "answered" });
  };
  let rest = "";
  process.stdin.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const command = JSON.parse(line) as ServerCommand;
      if (command.type === "exit") process.exit(0);
      else void (command.type === "probe" ? probe() : run(command));
    }
  });
  process.stdin.on("end", () => process.exit(0));
}
