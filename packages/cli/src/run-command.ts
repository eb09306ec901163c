import { ApiError, messageOf, PathPartError } from "@paperclip-k8s/engine";
import { HostError } from "@paperclip-k8s/paperclip/host-api";
import manifest from "../package.json" with { type: "json" };
import { COMMANDS, type Command, type CommandName, parseCommand } from "./arguments/command.ts";
import { UsageError } from "./arguments/values.ts";
import { checkAdapters } from "./commands/check-adapters.ts";
import { collectToolsHere } from "./commands/collect-tools.ts";
import { drain } from "./commands/drain.ts";
import { policy } from "./commands/policy.ts";
import { recover } from "./commands/recover.ts";
import { status } from "./commands/status.ts";
import { sweep } from "./commands/sweep.ts";
import { transcript } from "./commands/transcript.ts";
import { upgradeCheck } from "./commands/upgrade-check.ts";
import { HELP, OVERVIEW } from "./help.ts";
import { cleanTerminal, EXIT, type ExitCode, type Terminal } from "./terminal.ts";

/** From the arguments to the exit code; what goes wrong is one line on stderr. */
export async function runCommand(argv: readonly string[], given: Terminal): Promise<ExitCode> {
  const terminal = cleanTerminal(given);
  try {
    return await perform(parseCommand(argv, terminal.env), terminal);
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.err(`paperclip-k8s: ${error.message}`);
      return EXIT.usage;
    }
    const expected = error instanceof ApiError || error instanceof HostError || error instanceof PathPartError;
    const text = expected || !(error instanceof Error) ? messageOf(error) : (error.stack ?? error.message);
    for (const line of `paperclip-k8s: ${text}`.split("\n")) terminal.err(line);
    return EXIT.error;
  }
}

function perform(command: Command, terminal: Terminal): Promise<ExitCode> | ExitCode {
  switch (command.name) {
    case "help":
      for (const line of helpOf(command.of).split("\n")) terminal.out(line);
      return EXIT.done;
    case "version":
      terminal.out(manifest.version);
      return EXIT.done;
    case "recover":
      return recover(command, terminal);
    case "drain":
      return drain(command, terminal);
    case "sweep":
      return sweep(command, terminal);
    case "status":
      return status(command, terminal);
    case "transcript":
      return transcript(command, terminal);
    case "collect-tools":
      return collectToolsHere(command, terminal);
    case "policy":
      return policy(command, terminal);
    case "check-adapters":
      return checkAdapters(command, terminal);
    case "upgrade-check":
      return upgradeCheck(command, terminal);
  }
}

function helpOf(name: string | null): string {
  if (name === null) return OVERVIEW;
  if (!COMMANDS.includes(name as CommandName)) throw new UsageError(`there is no command "${name}"; one of: ${COMMANDS.join(", ")}`);
  return HELP[name as CommandName];
}
