import { type HostApi, HostError } from "../host/api.ts";
import { recordsOf, textOf } from "../host/context-values.ts";
import { listedRunOf, readRun } from "../host/runs.ts";

/** A run's status on the host, or why it cannot be read. */
type Answer = string | Error;

/** A run whose status is asked for. */
interface PolledRun {
  readonly runId: string;
  readonly companyId: string;
  readonly api: HostApi;
  onAnswer(answer: Answer): void;
}

/** As many as the host gives. */
const MOST_LISTED = 50;
/** A host without the list, or one that refuses it, is asked for it again after so many rounds. */
const ROUNDS_WITHOUT_LIST = 100;
/** So many runs are asked for at the same time. */
const AT_ONCE = 8;

const polls = new Map<string, CompanyPoll>();

/** Asks for a run's status every `pollMs`, by one request for all such runs of its company. Returns the end of it. */
export function pollStatus(run: PolledRun, pollMs: number): () => void {
  const key = `${run.api.url} ${run.companyId} ${pollMs}`;
  const poll = polls.get(key) ?? new CompanyPoll(pollMs);
  polls.set(key, poll);
  poll.add(run);
  return () => {
    // Stopped twice, it is no longer the one of this name.
    if (poll.remove(run) === 0 && polls.get(key) === poll) polls.delete(key);
  };
}

class CompanyPoll {
  readonly #pollMs: number;
  readonly #runs = new Set<PolledRun>();
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;
  #withoutList = 0;
  /** How many rounds it was left out after its last silence. */
  #silence = 0;

  constructor(pollMs: number) {
    this.#pollMs = pollMs;
  }

  add(run: PolledRun): void {
    this.#runs.add(run);
    this.#arm();
  }

  /** How many are left. */
  remove(run: PolledRun): number {
    this.#runs.delete(run);
    if (this.#runs.size === 0) clearTimeout(this.#timer);
    if (this.#runs.size === 0) this.#timer = undefined;
    return this.#runs.size;
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#isAsking || this.#runs.size === 0) return;
    this.#timer = setTimeout(() => void this.#round(), this.#pollMs);
  }

  async #round(): Promise<void> {
    this.#timer = undefined;
    this.#isAsking = true;
    const listed = await this.#list([...this.#runs]);
    const missing: PolledRun[] = [];
    for (const run of this.#runs) {
      const answer = listed.get(run.runId);
      if (answer === undefined) missing.push(run);
      else run.onAnswer(answer);
    }
    const next = async () => {
      for (let run = missing.pop(); run !== undefined; run = missing.pop()) if (this.#runs.has(run)) run.onAnswer(await ask(run));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    this.#isAsking = false;
    this.#arm();
  }

  /** What the host's list of live runs says of them; a run that is not in it is asked for by itself. */
  async #list(runs: readonly PolledRun[]): Promise<ReadonlyMap<string, string>> {
    const last = runs.at(-1);
    if (last === undefined || runs.length < 2 || this.#withoutList-- > 0) return new Map();
    this.#withoutList = 0;
    try {
      const rows = recordsOf(await last.api.get(`/companies/${encodeURIComponent(last.companyId)}/live-runs?limit=${MOST_LISTED}`));
      this.#silence = 0;
      const states = rows.map((row) => [textOf(row.id) ?? "", listedRunOf("", row)?.status ?? ""] as const);
      return new Map(states.filter(([, status]) => status !== ""));
    } catch (error) {
      const isSilent = error instanceof HostError && error.status === null;
      // It may be only the list that takes too long or is too large: left out for longer each time.
      this.#silence = isSilent ? Math.min(ROUNDS_WITHOUT_LIST, Math.max(1, this.#silence * 2)) : 0;
      this.#withoutList = isSilent ? this.#silence : ROUNDS_WITHOUT_LIST;
      return new Map();
    }
  }
}

/** By a request for this run alone. */
export function ask({ api, runId }: Pick<PolledRun, "api" | "runId">): Promise<Answer> {
  const unknown = new Error("the host does not know this run");
  return readRun(api, runId).then((run) => run?.status ?? unknown, asError);
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
