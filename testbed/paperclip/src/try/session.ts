import type { Agent, Run } from "../host/company.ts";
import { until } from "../wait.ts";
import { hireStaff, type Staff } from "./agents/agents.ts";
import { pauseOrResume } from "./pause.ts";
import { type Followed, followRuns } from "./runs/follow-runs.ts";
import { type Key, listen } from "./screen/keys.ts";
import { openInBrowser } from "./screen/open-in-browser.ts";
import type { Screen } from "./screen/screen.ts";
import { openStartPage } from "./screen/start-page.ts";
import type { Opened, Restarts } from "./where.ts";

/** Set by whoever learns that the server has ended by itself. */
export interface Crashes {
  onCrash: (how: string) => void;
}

/** Shows where the pages are and what to try, and does what keys ask for, until somebody has seen enough. */
export async function runSession(opened: Opened, crashes: Crashes, screen: Screen, stopping: AbortController): Promise<void> {
  const { stage } = opened;
  const stopped = stopping.signal;
  const staff = await hireStaff(stage);
  const names = staff.agents.map(({ name, adapterType }) => `${name} (${adapterType})`).join(", ");
  screen.step(`hired ${names}, of the host's own adapter types: nothing of Kubernetes is in their settings`);
  await opened.install();
  screen.step("installed the adapters that take the place of the host's own: from now on each of their runs is a Job");
  const { issuePrefix } = await stage.company.about();
  const pages = `${stage.host.url}/${issuePrefix}`;
  const pageOf = ({ agentId, id }: Run) => `${pages}/agents/${agentId}/runs/${id}`;
  const followed = followRuns({ stage, pageOf, say: screen.step, reportSilence: opened.isUnwatched, stopped });
  const restarts = opened.restarts({ staff, followed, say: screen.step, stopped });
  crashes.onCrash = (how) => {
    restarts.crashed();
    screen.note(`The server has ended by itself (${how}). Its agents' pods go on. r starts it again, q ends everything.`);
  };
  const start = await openStartPage(() => startWork(staff, followed, pageOf));
  const keys = listen(process.stdin, (key) => press(key));
  const list = () =>
    screen.ready({
      start: start.url,
      pages,
      signIn: stage.signIn ?? null,
      command: opened.command,
      staff,
      whilePaused: opened.whilePaused,
      pausedLook: opened.pausedLook,
      restartDescription: restarts.description,
      restartLook: restarts.look,
      keyHelp: keys.keyHelp,
    });
  const pause = () => pauseOrResume(stage.host, opened.whilePaused, screen.step);
  const press = onKey({ screen, staff, restarts, pause, list, quit: () => stopping.abort() });
  try {
    list();
    openInBrowser(start.url);
    if (!stopped.aborted) await new Promise<void>((resolve) => stopped.addEventListener("abort", () => resolve()));
  } finally {
    keys.stop();
    await start.stop();
  }
}

/** Starts work for whoever has none, and leads to the first live run. */
async function startWork(staff: Staff, followed: Followed, pageOf: (run: Run) => string): Promise<string> {
  await staff.work();
  const [first] = staff.agents as [Agent];
  const run = await until("a live run", async () => {
    await followed.look();
    const running = followed.runs("running");
    return running.find(({ agentId }) => agentId === first.id) ?? running[0];
  });
  return pageOf(run);
}

interface Acts {
  readonly screen: Screen;
  readonly staff: Staff;
  readonly restarts: Restarts;
  pause(): Promise<void>;
  list(): void;
  quit(): void;
}

/** One thing at a time; q and h work always. */
function onKey({ screen, staff, restarts, pause, list, quit }: Acts): (key: Key) => void {
  let busy = false;
  const act = async (key: Exclude<Key, "q" | "h">): Promise<void> => {
    if (key === "p") return pause();
    if (key === "r") return restarts.restart();
    const given = await staff.work();
    if (given === 0) screen.step("both agents are at work already");
  };
  return (key) => {
    if (key === "q") return quit();
    if (key === "h") return list();
    if (busy) return screen.step(`${key}: in a moment, the last one is not through yet`);
    busy = true;
    act(key)
      .catch((error: unknown) => screen.step(`${key}: ${error instanceof Error ? error.message : String(error)}`))
      .finally(() => {
        busy = false;
      });
  };
}
