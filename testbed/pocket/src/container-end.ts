import { messageFile } from "./container-launch.ts";
import { timestamp } from "./object.ts";
import type { Container, ContainerState, Pod } from "./pod.ts";
import { logPath } from "./pod-log.ts";
import { type ContainerFacts, unknownState } from "./pod-status.ts";
import type { ProcessExit } from "./processes.ts";
import { terminationMessage } from "./termination.ts";
import type { World } from "./world.ts";

export type Terminated = NonNullable<ContainerState["terminated"]>;

export interface EndedContainer {
  readonly exit: ProcessExit;
  readonly startedAt: string;
  readonly oomKilled: boolean;
}

// Read at the moment of the end: the message file and the log may be gone when the state is shown.
export function terminatedState(world: World, pod: Pod, container: Container, { exit, startedAt, oomKilled }: EndedContainer): Terminated {
  const { exitCode } = exit;
  const log = logPath(world, pod.metadata.uid, container.name);
  const message = terminationMessage(messageFile(world, pod, container), log, container.terminationMessagePolicy, exitCode);
  const reason = oomKilled ? "OOMKilled" : exitCode === 0 ? "Completed" : "Error";
  return { exitCode, reason, ...(message === undefined ? {} : { message }), startedAt, finishedAt: timestamp() };
}

export const startFailure = (message: string): Terminated => ({
  exitCode: 128,
  reason: "StartError",
  message,
  startedAt: timestamp(0),
  finishedAt: timestamp(),
});

/** A container the kubelet can no longer find. */
export function markUnknown(facts: ContainerFacts): void {
  facts.state = unknownState("The container could not be located when the pod was terminated");
}

/** What an eviction leaves: it even counts as restarted, though it never was. */
export function markEvicted(facts: ContainerFacts): void {
  markUnknown(facts);
  facts.lastState = unknownState("The container could not be located when the pod was deleted.  The container used to be Running");
  facts.restartCount = 1;
}
