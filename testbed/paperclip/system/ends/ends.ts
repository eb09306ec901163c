import type { AdapterType } from "../../src/agent-kinds.ts";
import { CLOSE, type Ending, endings, type Scene } from "../../src/ends/endings.ts";
import type { Agent, Issue } from "../../src/host/company.ts";
import type { Version } from "../../src/server/release.ts";
import type { Stage } from "../../src/stage.ts";
import { ELDER, NEWEST } from "../breadth.ts";

/** What somebody does on a page so that the work goes on; nothing where the host has scheduled the next run itself. */
export type Click = "comment" | "todo" | "retry" | "nothing";

/** What one end of a run shows on the host's pages, and how somebody goes on from there. */
export interface EndOnPages {
  readonly ending: Ending;
  readonly runPage: RegExp;
  /** The words on the issue's page that say what happened; null = that host's page says nothing. */
  readonly issuePage: Readonly<Record<Version, RegExp | null>>;
  readonly click: Click;
  /** One that happens often: tried on every run of the tests. */
  readonly isCommon: boolean;
  /** What somebody changes first. */
  readonly fix: (stage: Stage, agent: Agent, issue: Issue) => Promise<unknown>;
}

interface Words extends Partial<Pick<EndOnPages, "isCommon" | "click">> {
  readonly run: RegExp;
  readonly issue: RegExp;
  /** Where the elder host shows other words, or none. */
  readonly elder?: RegExp | null;
}

/** A wrong setting is put right, and the task becomes one that ends. */
const fixOf =
  (ending: Ending): EndOnPages["fix"] =>
  async (stage, agent, issue) => {
    // With a limit: a run that the host had scheduled before may still have an endless task.
    await stage.company.reconfigure(agent.id, { ...stage.config(agent.adapterType as AdapterType), timeoutSec: 150, graceSec: 1 });
    await stage.company.update(issue.id, { description: CLOSE });
    await ending.fix?.({ stage, agentId: agent.id });
  };

/** The host repeats a task as it was when its run ended, and starts some issues again by itself: endless work must not be found there. */
function endsLater(ending: Ending): Ending {
  if (!ending.task.startsWith("endless-steps")) return ending;
  const changeTask = ({ stage, issueId }: Scene) => stage.company.update(issueId, { description: CLOSE });
  return { ...ending, act: (scene) => changeTask(scene).then(() => ending.act?.(scene)) };
}

export function endOnPages(ending: Ending, words: Words): EndOnPages {
  const { run, issue, elder = issue, click = "comment", isCommon = false } = words;
  const issuePage = { [NEWEST]: issue, [ELDER]: elder } as Record<Version, RegExp | null>;
  return {
    ending: endsLater(ending),
    runPage: run,
    issuePage,
    click,
    isCommon,
    fix: fixOf(ending),
  };
}

const LEFT_OPEN: Words = { run: /succeeded/i, issue: /Paperclip needs a disposition/, elder: /Missing issue disposition/ };
const CLOSED: Words = { run: /200 closed/, issue: /The work is done; nothing is left to do/ };
/** The host waits for somebody, who goes on by this click. */
const waits = (run: RegExp, issue: RegExp, click: Click, isCommon = false): Words => ({ run, issue, click, isCommon });
/** The host goes on by itself. The elder one shows when, but not why. */
const passes = (run: RegExp, issue: RegExp): Words => ({ run, issue, elder: /Resumes in/, click: "nothing" });
/** Somebody has stopped it, so they know. */
const stopped = (run: RegExp, issue: RegExp): Words => ({ run, issue, elder: null });

const WORDS: Readonly<Record<string, Words>> = {
  "exit code 0, the agent closed its issue": CLOSED,
  "exit code 0, the issue left open": LEFT_OPEN,
  "exit code 0, after an unknown session": CLOSED,
  "the model refuses the request (400)": waits(
    /request is not valid/,
    /refused the request.*Change the task.*set this issue to todo/s,
    "todo",
  ),
  "the model's key is wrong (401)": waits(/invalid API key/, /did not accept the key.*Environment variables.*comment here/s, "comment"),
  "the model does not exist (404)": waits(/model does not exist/, /model is not known.*Choose another Model.*comment here/s, "retry", true),
  "the context is too long (400)": LEFT_OPEN,
  "the model is overloaded (503)": passes(/overloaded/, /busy or failed.*overloaded.*tries again by itself/s),
  "quota used up (429, come back in an hour)": passes(/quota exceeded/, /limit of the model's provider.*tries again by itself/s),
  "time limit": { run: /Time limit reached/, issue: /reached its time limit.*Timeout.*comment here to continue/s, isCommon: true },
  "cancelled by an operator": stopped(/cancelled/i, /cancelled.*Comment here to continue/s),
  "the agent paused by an operator": stopped(/agent pause/, /cancelled.*Resume the agent. Then comment here to continue/s),
  "out of memory": waits(/out of memory/i, /ran out of memory.*Raise Memory limit.*set this issue to todo/s, "todo", true),
  "evicted by the kubelet": passes(/exceeds the limit/, /exceeds the limit.*tries again by itself/s),
  "evicted by a drain": passes(/evicted through the API/, /evicted through the API.*tries again by itself/s),
  "the Job deleted by hand": waits(/was deleted from outside/, /was deleted from outside.*Comment here/s, "retry"),
  "the image is not there": waits(/image missing:1 is not on the node/, /did not start.*missing:1.*set this issue to todo/s, "todo"),
  "the namespace does not exist": waits(/"nowhere" not found/, /"nowhere" not found.*comment here/s, "comment"),
  "Jobs may not be created there": waits(/needs "create" on "jobs\.batch"/, /needs "create" on "jobs\.batch".*comment here/s, "retry"),
  "the volume does not exist": passes(/persistentvolumeclaim "nothing"/, /persistentvolumeclaim "nothing".*tries again by itself/s),
  "the CLI refuses its arguments": waits(/printed its usage/, /did not accept its arguments.*Correct Extra args/s, "comment"),
  "the CLI is not in the image": waits(/not found in PATH/, /not found in PATH.*comment here/s, "retry"),
  "a setting is wrong": waits(
    /must be an image reference/,
    /must be an image reference.*Correct it on the agent's \w+ page.*set this issue to todo/s,
    "todo",
  ),
};

/** Every way of a run to end. */
export const ENDS: readonly EndOnPages[] = endings.map((ending) => {
  const words = WORDS[ending.name];
  if (words === undefined) throw new Error(`nothing says what the pages show after "${ending.name}"`);
  return endOnPages(ending, words);
});
