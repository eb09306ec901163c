import { readdir } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { FinishedRun, RunHandle } from "./run.ts";

/** What follows a cancel, in ms after it. */
export interface CancelTimes {
  /** The CLI got its SIGTERM; null = there was none, or it cannot tell. */
  readonly term: number | null;
  /** The last sign of life of a CLI that goes on. */
  readonly alive: number | null;
  readonly returned: number;
  /** Gone for good; null = still there long after the result. */
  readonly gone: Readonly<Record<(typeof LEFT)[number], number | null>>;
}

export interface CancelledRun extends FinishedRun {
  readonly times: CancelTimes;
}

/** A CLI that tells when it is asked to stop, and then stops. */
export const OBEDIENT = `process.on("SIGTERM", () => process.stdout.write("term " + Date.now() + "\\n", () => process.exit(7)));
  console.log("on"); setInterval(() => {}, 1000)`;
/** A CLI that tells the same and goes on, until it is killed. */
export const STUBBORN = `process.on("SIGTERM", () => console.log("term " + Date.now()));
  console.log("on"); setInterval(() => console.log("alive " + Date.now()), 100)`;

/** Node and test share a clock on either cluster: what the CLI printed can be compared. */
export async function cancelRun(phase: string, run: RunHandle): Promise<CancelledRun> {
  const at = Date.now();
  let returned = 0;
  run.cancel("by an operator");
  const end = run.done.finally(() => {
    returned = Date.now() - at;
  });
  const gone = await watchGo(run, at, () => returned);
  const done = await end;
  const said = (word: string) =>
    done.output
      .toString()
      .match(new RegExp(`^${word} (\\d+)$`, "gm"))
      ?.at(-1)
      ?.split(" ")[1];
  const after = (stamp: string | undefined) => (stamp === undefined ? null : Number(stamp) - at);
  const times = { term: after(said("term")), alive: after(said("alive")), returned, gone };
  console.log(`cancel, ${phase}: ${tell(times)}`);
  return { ...done, times };
}

const LEFT = ["Job", "Secret", "files"] as const;
/** Something that is left on purpose is not waited for. */
const STAYS_MS = 5000;
/** Far beyond every bound: it only keeps a test from hanging. */
const LIMIT_MS = 100_000;

async function watchGo(run: RunHandle, at: number, returned: () => number): Promise<CancelTimes["gone"]> {
  const logs = dirname(run.request.output.path);
  const files = async () => (await readdir(logs)).filter((name) => name.includes(run.request.runId)).length;
  const gone: Record<(typeof LEFT)[number], number | null> = { Job: null, Secret: null, files: null };
  for (let now = 0; now < LIMIT_MS; now = Date.now() - at) {
    const counts = await Promise.all([run.jobs(), run.secrets(), files()]);
    for (const [place, what] of LEFT.entries()) gone[what] = counts[place] === 0 ? (gone[what] ?? now) : null;
    const last = Math.max(returned(), gone.Job ?? now, gone.Secret ?? now);
    if (returned() > 0 && (gone.files !== null || now - last > STAYS_MS) && last < now) break;
    await sleep(25);
  }
  return gone;
}

function tell({ term, alive, returned, gone }: CancelTimes): string {
  const cli = [...(term === null ? [] : [`SIGTERM ${term}`]), ...(alive === null ? [] : [`killed ${alive}`])];
  return [...cli, `returned ${returned}`, ...LEFT.map((what) => `${what} gone ${gone[what] ?? "never"}`)].join(", ").concat(" ms");
}
