import { setTimeout as sleep } from "node:timers/promises";
import type { Deployed } from "../../cluster/deployed.ts";
import type { HostAddress } from "../../host/api.ts";
import type { Paperclip } from "../../server/server.ts";
import type { Staff } from "../agents/agents.ts";
import { isPaused } from "../pause.ts";
import type { Followed } from "../runs/follow-runs.ts";
import type { Progress } from "./progress.ts";

/** A Paperclip of 2026.916 that is back within a minute takes a killed server's runs for its own, and shows them as running for five more. */
const AWAY_MS = 65_000;
const REPORT_MS = 10_000;
/** Longer than a CLI takes to start; a task of somebody's own may report no steps. */
const FIRST_STEP_MS = 30_000;
/** Work that was given is seen as a run by then. */
const WORK_SEEN_MS = 10_000;
/** Runs inside the server, as after a pause, may have to end first. */
const MOST_WAIT_MS = 180_000;
/** A pod takes about so long until its CLI works. */
const STARTED_MS = 8000;

export interface Restarting {
  readonly host: Pick<Paperclip, "url" | "end" | "start">;
  readonly staff: Staff;
  readonly followed: Followed;
  /** How far the agents' pods are. */
  progress(): readonly Progress[];
  readonly say: (line: string) => void;
  readonly stopped: AbortSignal;
}

/** Kills the server under live runs, shows that their agents work on without it, and starts it again. */
export class Restarter {
  readonly description =
    "kill -9 of the server under a live run; it is started again a minute later, continues by itself, and nothing is lost";
  readonly look = "the steps that go on here while there is no server, and then ";
  readonly #with: Restarting;
  #diedAt: number | null = null;

  constructor(restarting: Restarting) {
    this.#with = restarting;
  }

  /** The server has ended by itself. */
  crashed(): void {
    this.#diedAt = Date.now();
  }

  async restart(): Promise<void> {
    const { host, followed, say } = this.#with;
    if (this.#diedAt === null) {
      if (await isPaused(host)) return say("paused: runs live inside the server now, and would end with it. p resumes, then r");
      if (!(await this.#somethingLive())) return;
      say("kill -9 of the server. Its agents' pods do not notice.");
      await host.end("SIGKILL");
      this.#diedAt = Date.now();
    }
    const live = followed.runs("running").length > 0;
    if (live) await this.#stayAway(this.#diedAt + AWAY_MS);
    if (this.#with.stopped.aborted) return;
    await host.start();
    this.#diedAt = null;
    if (live)
      say(
        "the host has lost its runs, and continues by itself: the next ones take the Jobs over, live or ended. Nobody has to do anything",
      );
  }

  /**
   * Nothing to see is no reason to restart; runs that were drained go on after it. A server that is killed before a run has its pod leaves nothing
   * that goes on, and one that is killed before an agent has read its task leaves it without one.
   */
  async #somethingLive(): Promise<boolean> {
    const { followed, staff, progress, say, stopped } = this.#with;
    const count = (status: "queued" | "running" | "scheduled_retry") => followed.runs(status).length;
    const pods = () => progress().filter(({ running }) => running);
    const begun = Date.now();
    let workedAt = Number.NEGATIVE_INFINITY;
    let liveSince: number | null = null;
    let hasSaid = false;
    while (!stopped.aborted && Date.now() < begun + MOST_WAIT_MS) {
      await followed.look();
      const isIdle = count("queued") + count("running") + count("scheduled_retry") === 0;
      if (isIdle && Date.now() > workedAt + WORK_SEEN_MS) {
        say("nobody is at work: first each agent gets a minute of work");
        await staff.work();
        workedAt = Date.now();
      }
      const live = pods();
      liveSince = live.length === 0 ? null : (liveSince ?? Date.now());
      const isRead = live.every(({ hasBegun }) => hasBegun) || (liveSince !== null && Date.now() > liveSince + FIRST_STEP_MS);
      if (live.length > 0 && count("queued") === 0 && live.length >= count("running") && isRead) return true;
      if (!hasSaid && Date.now() > begun + REPORT_MS) say("waiting until each run has a pod, and its agent has begun");
      hasSaid ||= Date.now() > begun + REPORT_MS;
      await sleep(500);
    }
    if (!stopped.aborted) say("no pod is at work now; r again later");
    return false;
  }

  async #stayAway(until: number): Promise<void> {
    const { say, progress, stopped } = this.#with;
    if (Date.now() >= until) return;
    say(
      `no server for ${Math.round((until - Date.now()) / 1000)} s: a Paperclip that is back sooner shows the lost runs as running for 5 minutes`,
    );
    // Pods of earlier runs, which are kept for somebody to look at, are not what goes on here.
    const live = new Set(progress().flatMap(({ running, pod }) => (running ? [pod] : [])));
    let shown: readonly string[] = [];
    while (Date.now() < until && !stopped.aborted) {
      await sleep(Math.min(REPORT_MS, until - Date.now()), undefined, { signal: stopped }).catch(() => {});
      const lines = progress().flatMap(({ pod, line }) => (live.has(pod) ? [line] : []));
      for (const line of lines) if (!shown.includes(line)) say(`no server  ${line}`);
      shown = lines;
    }
  }
}

interface RollingOut extends Pick<Restarting, "staff" | "followed" | "say" | "stopped"> {
  readonly host: HostAddress;
  readonly deployed: Pick<Deployed, "kubectl">;
}

/** In a real cluster the way an operator restarts: the preStop hook drains, and the next server takes every Job over. */
export class RollOut {
  readonly description =
    "kubectl rollout restart under a live run: its preStop hook drains, and half a minute later the new server takes the Job over";
  readonly look = "";
  readonly #with: RollingOut;

  constructor(rollingOut: RollingOut) {
    this.#with = rollingOut;
  }

  crashed(): void {} // the cluster starts it again

  async restart(): Promise<void> {
    const { host, followed, staff, deployed, say } = this.#with;
    if (await isPaused(host)) say("the host forgets a pause when it is restarted: after this the agents' runs are Jobs again");
    await followed.look();
    if (followed.runs("running").length === 0) {
      say("nobody is at work: first each agent gets a minute of work");
      await staff.work();
      await this.#atWork();
    }
    say("kubectl rollout restart deployment/paperclip");
    await deployed.kubectl("rollout", "restart", "deployment/paperclip");
    await deployed.kubectl("rollout", "status", "deployment/paperclip", "--timeout=300s");
    say("the new server is ready");
  }

  /** A run that has no pod yet is not worth a restart. */
  async #atWork(): Promise<void> {
    const { followed, stopped } = this.#with;
    const latest = Date.now() + FIRST_STEP_MS;
    while (!stopped.aborted && Date.now() < latest && followed.runs("running").length === 0) {
      await sleep(500);
      await followed.look();
    }
    await sleep(STARTED_MS, undefined, { signal: stopped }).catch(() => {});
  }
}
