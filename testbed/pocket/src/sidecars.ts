import { startFailure, type Terminated, terminatedState } from "./container-end.ts";
import { timestamp } from "./object.ts";
import type { Pauses } from "./pauses.ts";
import type { Container, Pod } from "./pod.ts";
import type { PodFacts } from "./pod-status.ts";
import { killMarked, type Launch, launch, podMarker, type RunningProcess, StartError, signalProcess } from "./processes.ts";
import type { World } from "./world.ts";

interface Sidecar {
  readonly container: Container;
  readonly spec: Launch;
  process: RunningProcess | null;
}

// Init containers with restartPolicy Always: each runs from its turn on, is restarted when it ends, and is ended after the pod's own container.
export class Sidecars {
  readonly #world: World;
  readonly #pod: Pod;
  readonly #facts: PodFacts;
  readonly #post: () => void;
  readonly #started: Sidecar[] = [];
  #stopping = false;

  constructor(world: World, pod: Pod, facts: PodFacts, post: () => void) {
    this.#world = world;
    this.#pod = pod;
    this.#facts = facts;
    this.#post = post;
  }

  /** Returns when its process runs: there are no startup probes here. */
  async start(container: Container, { env, ...rest }: Launch, pauses: Pauses): Promise<void> {
    // A marker of its own: what is left of another container is killed without it.
    const spec = { ...rest, env: new Map([...env, [podMarker, this.#marker(container)]]) };
    const sidecar: Sidecar = { container, spec, process: null };
    this.#started.push(sidecar);
    for (let tries = 0; !(await this.#launch(sidecar)); tries++) await pauses.retryPause(tries);
  }

  /** In reverse order, as the kubelet does it: SIGTERM, then SIGKILL after the grace. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    for (const { container, process } of this.#started.toReversed()) {
      if (process === null) continue;
      signalProcess(process.pid, "SIGTERM");
      const cancel = this.#world.timers.after(graceMs, () => killMarked(podMarker, this.#marker(container)));
      await process.exited;
      cancel();
    }
  }

  #marker = ({ name }: Container): string => `${this.#pod.metadata.uid}/${name}`;

  async #launch(sidecar: Sidecar): Promise<boolean> {
    const startedAt = timestamp();
    try {
      sidecar.process = await launch(sidecar.spec);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      this.#ended(sidecar, startFailure(error.message));
      return false;
    }
    this.#facts.containers.get(sidecar.container.name)!.state = { running: { startedAt } };
    this.#post();
    if (this.#stopping) killMarked(podMarker, this.#marker(sidecar.container));
    void this.#follow(sidecar, sidecar.process, startedAt);
    return true;
  }

  async #follow(sidecar: Sidecar, process: RunningProcess, startedAt: string): Promise<void> {
    const { container } = sidecar;
    const exit = await process.exited;
    killMarked(podMarker, this.#marker(container));
    sidecar.process = null;
    this.#ended(sidecar, terminatedState(this.#world, this.#pod, container, { exit, startedAt, oomKilled: false }));
    for (;;) {
      await this.#world.timers.sleep(this.#world.timings.retry);
      if (this.#stopping || (await this.#launch(sidecar))) return;
    }
  }

  #ended({ container }: Sidecar, terminated: Terminated): void {
    const facts = this.#facts.containers.get(container.name)!;
    if (this.#stopping) facts.state = { terminated };
    else {
      facts.lastState = { terminated };
      facts.restartCount++;
      facts.state = { waiting: { reason: "CrashLoopBackOff", message: `back-off restarting failed container=${container.name}` } };
    }
    this.#post();
  }
}
