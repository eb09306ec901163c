import type { ClusterArguments } from "../cluster/access.ts";
import { type HostArguments, hostArguments } from "./host.ts";
import { clusterArguments, type Given, list, type Place, placeOf, seconds, text, UsageError } from "./values.ts";

export interface RecoverCommand extends Place {
  readonly name: "recover";
  readonly cluster: ClusterArguments;
  readonly host: HostArguments;
  readonly issues: readonly string[];
  /** The operator's own sentence on why the agents of these issues have stopped; null = none was given. */
  readonly stopped: string | null;
  readonly dryRun: boolean;
  /** Whether the host learns what runs cost that ended while no server was there. */
  readonly costs: boolean;
  /** Seconds between two rounds; null = one round. */
  readonly watch: number | null;
}

/** Fewest characters of a usable statement: the host keeps it as evidence, and the next run reads it. */
const SHORTEST_STATEMENT = 10;

export function recoverCommand(given: Given, env: NodeJS.ProcessEnv): RecoverCommand {
  if (given.every !== undefined && !given.watch) throw new UsageError("--every is about --watch, which is not given");
  const [issues, stopped] = [list(given.issue), text(given.stopped)];
  if (stopped !== null && issues.length === 0) throw new UsageError("--stopped is about --issue, which is not given");
  if (stopped !== null && stopped.trim().length < SHORTEST_STATEMENT)
    throw new UsageError(`--stopped: "${stopped}" does not say how you know that the agent has stopped`);
  return {
    name: "recover",
    cluster: clusterArguments(given),
    host: hostArguments(given, env),
    ...placeOf(given, env),
    issues,
    stopped,
    dryRun: given["dry-run"] === true,
    costs: given["no-costs"] !== true,
    watch: given.watch ? everySeconds(given) : null,
  };
}

/** A timer cannot be set for much longer. */
const LONGEST_EVERY_SEC = 7 * 86_400;

function everySeconds({ every }: Given): number {
  const found = seconds("every", every, 15);
  if (found > LONGEST_EVERY_SEC) throw new UsageError(`--every: "${every}" is more than 7d`);
  return found;
}
