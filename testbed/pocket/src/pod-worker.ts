import { rmSync } from "node:fs";
import { join } from "node:path";
import { markEvicted, markUnknown, startFailure, type Terminated, terminatedState } from "./container-end.ts";
import { prepareLaunch } from "./container-launch.ts";
import { releasePod } from "./delete.ts";
import { ConfigError } from "./environment.ts";
import { timestamp } from "./object.ts";
import { Pauses, stopped } from "./pauses.ts";
import type { Container, ContainerState, Pod } from "./pod.ts";
import { podDir } from "./pod-log.ts";
import { firstFacts, type PodFacts, podStatus } from "./pod-status.ts";
import { killMarked, type Launch, launch, podMarker, type RunningProcess, StartError, signalProcess } from "./processes.ts";
import { pullImage } from "./pull-image.ts";
import { Sidecars } from "./sidecars.ts";
import { MountError, refreshVolumes, setUpVolumes } from "./volumes.ts";
import type { World } from "./world.ts";

// One pod's life on the node, from its binding to its end.
export class PodWorker {
  readonly pod: Pod;
  readonly facts: PodFacts;
  /** The main process of the container that runs now. */
  running: RunningProcess | null = null;
  oomKilled = false;
  readonly #world: World;
  readonly #pauses: Pauses;
  readonly #sidecars: Sidecars;
  #stopping = false;
  #deleted = false;
  #thaw = Promise.withResolvers<void>();
  #over = false;
  #evicted = false;
  #graceMs = 0;
  #current = "";

  constructor(world: World, pod: Pod) {
    this.#world = world;
    this.pod = pod;
    this.facts = firstFacts(pod.spec);
    this.#pauses = new Pauses(world);
    this.#sidecars = new Sidecars(world, pod, this.facts, () => this.post());
  }

  get over(): boolean {
    return this.#over;
  }

  async run(): Promise<void> {
    try {
      await this.#pauses.pause(this.#world.timings.containerCreating);
      this.post();
      this.#armDeadline();
      const folders = await this.#mount();
      await this.#pauses.pause(this.#world.timings.start);
      this.facts.sandbox = true;
      for (const container of this.pod.spec.initContainers ?? []) {
        if (container.restartPolicy === "Always") await this.#startSidecar(container, folders);
        else if ((await this.#runContainer(container, folders)) !== 0) return await this.#end("Failed");
      }
      const code = await this.#runContainer(this.pod.spec.containers[0]!, folders);
      while (this.#world.state.podsStay && !this.#stopping) await this.#world.timers.sleep(50);
      await this.#end(code === 0 ? "Succeeded" : "Failed");
    } catch (error) {
      if (error !== stopped) throw error;
      await this.#endUnstarted();
    }
  }

  /** Something a waiting pod may need has appeared. */
  wake(): void {
    this.#pauses.wake();
  }

  /** The pod is to end: SIGTERM to the main process alone, like a runtime; SIGKILL to everything after the grace. */
  stop(graceMs: number, deleted: boolean): void {
    this.#deleted ||= deleted;
    if (this.#over || (this.#stopping && graceMs >= this.#graceMs)) return;
    this.#stopping = true;
    this.#graceMs = graceMs;
    this.#pauses.stop();
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

  #say(type: "Normal" | "Warning", reason: string, message: string): void {
    this.#world.recorder.record(this.pod, "kubelet", type, reason, message);
  }

  #mount(): Promise<Map<string, string>> {
    return this.#pauses.untilPossible(
      () => setUpVolumes(this.#world, this.pod),
      (error) => {
        if (!(error instanceof MountError)) return false;
        this.#say("Warning", "FailedMount", `MountVolume.SetUp failed for volume "${error.volume}" : ${error.message}`);
        return true;
      },
    );
  }

  /** What a container is started with, once its image is there. */
  async #create(container: Container, folders: ReadonlyMap<string, string>): Promise<Launch> {
    if (this.#stopping) throw stopped;
    const say = this.#say.bind(this);
    await pullImage(this.#world, container, this.#pauses, { say, wait: this.#wait.bind(this, container) });
    const spec = await this.#configure(container, folders);
    this.#say("Normal", "Created", `Created container: ${container.name}`);
    return spec;
  }

  async #startSidecar(container: Container, folders: ReadonlyMap<string, string>): Promise<void> {
    const spec = await this.#create(container, folders);
    await this.#sidecars.start(container, spec, this.#pauses);
  }

  async #runContainer(container: Container, folders: ReadonlyMap<string, string>): Promise<number> {
    const spec = await this.#create(container, folders);
    let process: RunningProcess;
    try {
      process = await launch(spec);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      this.#say("Warning", "Failed", `Error: ${error.message}`);
      return this.#showEnd(container, startFailure(error.message));
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
    return this.#showEnd(container, terminatedState(this.#world, this.pod, container, { exit, startedAt, oomKilled: this.oomKilled }));
  }

  // The container's end shows before the pod's phase does; for a pod being stopped both show at once.
  async #showEnd(container: Container, terminated: Terminated): Promise<number> {
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
    markEvicted(this.facts.containers.get(container.name)!);
    return 137;
  }

  #configure(container: Container, folders: ReadonlyMap<string, string>): Promise<Launch> {
    return this.#pauses.untilPossible(
      () => prepareLaunch(this.#world, this.pod, container, folders),
      (error) => {
        if (error instanceof ConfigError) this.#wait(container, "CreateContainerConfigError", error.message);
        return error instanceof ConfigError;
      },
    );
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
    for (const { name } of this.pod.spec.containers) markUnknown(this.facts.containers.get(name)!);
    await this.#end("Failed");
  }

  async #end(phase: "Succeeded" | "Failed"): Promise<void> {
    const { timers, timings, state } = this.#world;
    await this.#sidecars.stop(this.#stopping ? this.#graceMs : (this.pod.spec.terminationGracePeriodSeconds ?? 30) * 1000);
    this.facts.phase = phase;
    this.#over = true;
    while (state.nodeLost) await this.#thaw.promise;
    this.post();
    rmSync(join(podDir(this.#world, this.pod.metadata.uid), "volumes"), { recursive: true, force: true });
    if (!this.#deleted) return;
    await timers.sleep(timings.remove);
    while (state.nodeLost) await this.#thaw.promise;
    releasePod(this.#world.store, this.pod);
  }
}
