import { type ConnectOptions, type Engine, messageOf, type RunOutcome } from "@paperclip-k8s/engine";
import type { AgentCli, CliParser } from "../../agent-cli/agent-cli.ts";
import type { EnvironmentCheck } from "../../host/types.ts";
import { RunLog } from "../../observe/log.ts";
import { AttemptOutput } from "../../observe/output.ts";
import { check } from "../check.ts";
import type { Probe } from "./probe-request.ts";

/** The host lets an agent have an account of this kind only after a turn of the CLI with it: it looks for a check with the code below. */
export const NEEDS_HELLO = "subscription";
export const HELLO = "Respond with hello.";

/** One turn of the CLI itself, in a pod. `ms` is for all of it. */
export async function runHello(
  { request }: Pick<Probe, "request">,
  cli: AgentCli,
  ms: number,
  engine: Engine,
  cluster: ConnectOptions,
): Promise<EnvironmentCheck> {
  const output = new AttemptOutput(cli, new RunLog(async () => {}));
  const io = {
    signal: AbortSignal.timeout(ms),
    onOutput: (bytes: Buffer) => output.stdout(bytes),
    onStderr: (text: string) => output.stderr(text),
    onStatus: () => {},
  };
  try {
    const outcome = await engine.run(request, cluster, io);
    await output.end();
    return helloCheck(outcome, output.parser, output.stderrTail);
  } catch (error) {
    return check("error", "hello_probe_failed", `The turn with the account could not be started: ${messageOf(error)}`);
  }
}

/** What the CLI says is not repeated: it may quote a key. */
export function helloCheck(outcome: RunOutcome, parser: Pick<CliParser, "report" | "fault">, stderr: string): EnvironmentCheck {
  const fault = parser.fault(stderr);
  const isAnswered = outcome.kind === "exited" && outcome.exitCode === 0 && fault === null && parser.report().text.trim() !== "";
  if (isAnswered) return check("info", "hello_probe_passed", "The provider has answered a turn of the CLI with this account");
  const why = fault?.kind ?? (outcome.kind === "exited" ? `exit code ${outcome.exitCode ?? "none"}` : outcome.kind);
  return check("error", "hello_probe_failed", `A turn of the CLI with this account failed (${why})`);
}
