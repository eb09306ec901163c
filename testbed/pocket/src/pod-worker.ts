import { rmSync } from "node:fs";
import { join } from "node:path";
import { messageFile, prepareLaunch } from "./container-launch.ts";
import { releasePod } from "./delete.ts";
import { ConfigError } from "./environment.ts";
import { timestamp } from "./object.ts";
import type { Container, ContainerState, Pod } from "./pod.ts";
import { logPath, podDir } from "./pod-log.ts";
import { firstFacts, type PodFacts, podStatus, unknownState } from "./pod-status.ts";
import { killMarked, launch, type ProcessExit, podMarker, type RunningProcess, StartError, signalProcess } from "./processes.ts";
import { type PullingPod, pullImage } from "./pull-image.ts";
import { terminationMessage } from "./termination.ts";
import { MountError, refreshVolumes, setUpVolumes } from "./volumes.ts";
import type { World } from "./world.ts";

const stopped = Symbol("stopped before a process ran");

// One pod's life on the node, from its binding to its end.
export class PodWorker {
  readonly pod: Pod;
  readonly facts: PodFacts;
  /** The main process of the container that runs now. */
  running: RunningProcess | null = null;
  oomKilled = false;
  readonly #world: World;
  readonly #stop = Promise.withResolvers<never>();
  #stopping = false;
  #deleted = false;
  #wake = Promise.withResolvers<void>();
  #thaw = Promise.withResolvers<void>();
  #over = false;
  #evicted = false;
  #graceMs = 0;
  #current = "";

  constructor(world: World, pod: Pod) {
    this.#world = world;
    this.pod = pod;
    this.facts = firstFacts(pod.spec);
    this.#stop.promise.catch(() => {});
  }

  get over(): boolean {
    return this.#over;
  }

  async run(): Promise<void> {
    try {
      await this.#orStopped(this.#world.timers.sleep(this.#world.timings.containerCreating));
      this.post();
      this.#armDeadline();
      const folders = await this.#mount();
      await this.#orStopped(this.#world.timers.sleep(this.#world.timings.start));
      this.facts.sandbox = true;
      for (const container of this.pod.spec.initContainers ?? []) {
        if ((await this.#runContainer(container, folders)) !== 0) return await this.#end("Failed");
      }
      const code = await this.#runContainer(this.pod.spec.containers[0]!, folders);
      await this.#end(code === 0 ? "Succeeded" : "Failed");
    } catch (error) {
      if (error !== stopped) throw error;
      await this.#endUnstarted();
    }
  }

  /** Something a waiting pod may need has appeared. */
  wake(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  /** The pod is to end: SIGTERM to the main process alone, like a runtime; SIGKILL to everything after the grace. */
  stop(graceMs: number, deleted: boolean): void {
    this.#deleted ||= deleted;
    if (this.#over || (this.#stopping && graceMs > 0)) return;
    this.#stopping = true;
    this.#graceMs = graceMs;
    this.#stop.reject(stopped);
    if (this.running) this.#terminate(this.running);
  }

  #terminate(process: RunningProcess): void {
    this.#say("Normal", "Killing", `Stopping container ${this.#current}`);
    signalProcess(process.pid, "SIGTERM");
    this.#world.timers.after(this.#graceMs, () => this.kill());
  }

  /** The kubelet takes the pod off the node: the pod object stays, the container becomes unknown. */
  evict(message: string, disruption?: { reason: string; message: string }): void {
    this.#evicted = true;
    this.facts.reason = "Evicted";
    this.facts.message = message;
    if (disruption) this.facts.disruption = disruption;
    this.#say("Warning", "Evicted", message);
    this.stop(1000, false);
  }

  kill(): void {
    killMarked(podMarker, this.pod.metadata.uid);
    if (this.running) signalProcess(-this.running.pid, "SIGKILL");
  }

  refresh(): void {
    if (this.facts.sandbox && !this.#over) refreshVolumes(this.#world, this.pod);
  }

  thaw(): void {
    this.#thaw.resolve();
    this.#thaw = Promise.withResolvers();
    this.post();
  }

  // A lost node keeps its knowledge to itself.
  post(): void {
    if (this.#world.state.nodeLost) return;
    const { namespace, name, uid } = this.pod.metadata;
    this.#world.store.change("pods", namespace, name, (draft) => {
      if (draft.metadata.uid === uid) draft.status = podStatus(draft.spec, this.facts, draft.status);
    });
  }

  readonly #pulling: PullingPod = {
    say: (type, reason, message) => this.#say(type, reason, message),
    wait: (container, reason, message) => this.#wait(container, reason, message),
    pause: (ms) => this.#orStopped(this.#world.timers.sleep(ms)),
    retryPause: (tries) => this.#retryPause(tries),
  };

  #say(type: "Normal" | "Warning", reason: string, message: string): void {
    this.#world.recorder.record(this.pod, "kubelet", type, reason, message);
  }

  #orStopped<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([this.#stop.promise, promise]);
  }

  // Pauses before the next try, cut short when something the pod may need appears.
  #retryPause(tries: number): Promise<void> {
    const pause = this.#world.timers.sleep(this.#world.timings.retry * 2 ** Math.min(tries, 6));
    return this.#orStopped(Promise.race([pause, this.#wake.promise]));
  }

  async #mount(): Promise<Map<string, string>> {
    for (let tries = 0; ; tries++) {
      try {
        return setUpVolumes(this.#world, this.pod);
      } catch (error) {
        if (!(error instanceof MountError)) throw error;
        this.#say("Warning", "FailedMount", `MountVolume.SetUp failed for volume "${error.volume}" : ${error.message}`);
        await this.#retryPause(tries);
      }
    }
  }

  async #runContainer(container: Container, folders: ReadonlyMap<string, string>): Promise<number> {
    if (this.#stopping) throw stopped;
    await pullImage(this.#world, container, this.#pulling);
    const spec = await this.#configure(container, folders);
    let process: RunningProcess;
    try {
      process = await launch(spec);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      this.#say("Warning", "Failed", `Error: ${error.message}`);
      const state = { exitCode: 128, reason: "StartError", message: error.message };
      return this.#showEnd(container, { ...state, startedAt: "1970-01-01T00:00:00Z", finishedAt: timestamp() });
    }
    return this.#follow(container, process);
  }

  async #follow(container: Container, process: RunningProcess): Promise<number> {
    const startedAt = timestamp();
    this.running = process;
    this.#current = container.name;
    this.#say("Normal", "Started", `Started container ${container.name}`);
    if (this.#stopping) this.#terminate(process);
    const cancelRunning = this.#world.timers.after(this.#world.timings.running, () => {
      this.#set(container, { running: { startedAt } });
      if (this.pod.spec.containers.includes(container)) this.facts.phase = "Running";
      this.post();
    });
    const exit = await process.exited;
    cancelRunning();
    this.kill();
    this.running = null;
    return this.#showEnd(container, this.#terminated(container, exit, startedAt));
  }

  #terminated(container: Container, { exitCode }: ProcessExit, startedAt: string): NonNullable<ContainerState["terminated"]> {
    const log = logPath(this.#world, this.pod.metadata.uid, container.name);
    const message = terminationMessage(messageFile(this.#world, this.pod, container), log, container.terminationMessagePolicy, exitCode);
    const reason = this.oomKilled ? "OOMKilled" : exitCode === 0 ? "Completed" : "Error";
    return { exitCode, reason, ...(message === undefined ? {} : { message }), startedAt, finishedAt: timestamp() };
  }

  // The container's end shows before the pod's phase does; for a pod being stopped both show at once.
  async #showEnd(container: Container, terminated: NonNullable<ContainerState["terminated"]>): Promise<number> {
    const { timers, timings } = this.#world;
    await timers.sleep(timings.terminated);
    if (this.#evicted) return this.#showEviction(container);
    this.#set(container, { terminated });
    const last = this.pod.spec.containers.includes(container) || terminated.exitCode !== 0;
    if (!this.#stopping) this.post();
    if (last) await timers.sleep(timings.phase);
    return terminated.exitCode;
  }

  async #showEviction(container: Container): Promise<number> {
    this.facts.phase = "Failed";
    this.#set(container, { waiting: { reason: "ContainerCreating" } });
    this.post();
    await this.#world.timers.sleep(this.#world.timings.phase);
    const facts = this.facts.containers.get(container.name)!;
    facts.state = unknownState("The container could not be located when the pod was terminated");
    facts.lastState = unknownState("The container could not be located when the pod was deleted.  The container used to be Running");
    facts.restartCount = 1;
    return 137;
  }

  async #configure(container: Container, folders: ReadonlyMap<string, string>) {
    for (let tries = 0; ; tries++) {
      try {
        const spec = prepareLaunch(this.#world, this.pod, container, folders);
        this.#say("Normal", "Created", `Created container: ${container.name}`);
        return spec;
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        this.#wait(container, "CreateContainerConfigError", error.message);
        await this.#retryPause(tries);
      }
    }
  }

  #wait(container: Container, reason: string, message: string): void {
    this.#say("Warning", "Failed", reason === "CreateContainerConfigError" ? `Error: ${message}` : `Error: ${reason}`);
    this.#set(container, { waiting: { reason, message } });
    this.post();
  }

  #set(container: Container, state: ContainerState): void {
    this.facts.containers.get(container.name)!.state = state;
  }

  #armDeadline(): void {
    const seconds = this.pod.spec.activeDeadlineSeconds;
    if (seconds === undefined) return;
    this.#world.timers.after(seconds * 1000, () => {
      if (this.#over || this.#stopping) return;
      this.facts.reason = "DeadlineExceeded";
      this.facts.message = "Pod was active on the node longer than the specified deadline";
      this.#say("Normal", "DeadlineExceeded", this.facts.message);
      this.stop((this.pod.spec.terminationGracePeriodSeconds ?? 30) * 1000, false);
    });
  }

  // Stopped before its container ran: the kubelet then knows nothing of it.
  async #endUnstarted(): Promise<void> {
    for (const { name } of this.pod.spec.containers) {
      const state = unknownState("The container could not be located when the pod was terminated");
      this.facts.containers.get(name)!.state = state;
    }
    await this.#end("Failed");
  }

  async #end(phase: "Succeeded" | "Failed"): Promise<void> {
    const { timers, timings, state } = this.#world;
    this.facts.phase = phase;
    this.#over = true;
    this.kill();
    while (state.nodeLost) await this.#thaw.promise;
    this.post();
    rmSync(join(podDir(this.#world, this.pod.metadata.uid), "volumes"), { recursive: true, force: true });
    if (!this.#deleted) return;
    await timers.sleep(timings.remove);
    while (state.nodeLost) await this.#thaw.promise;
    releasePod(this.#world.store, this.pod);
  }
}
