import { TYPES } from "../../agent-kinds.ts";
import { labelOf } from "../../page/label.ts";
import { type Staff, WRONG_COMMAND } from "../agents/agents.ts";

export interface SignIn {
  readonly email: string;
  readonly password: string;
}

/** What somebody who has only this terminal has to know. */
export interface Ready {
  /** Whoever opens it starts something to watch. */
  readonly start: string;
  /** The company's pages begin with it. */
  readonly pages: string;
  readonly signIn: SignIn | null;
  readonly command: string;
  readonly staff: Staff;
  /** What becomes of a run after p. */
  readonly whilePaused: string;
  /** Where to see it. */
  readonly pausedLook: string;
  /** What r does. */
  readonly restartDescription: string;
  /** What else there is to see of it; ends with a comma, or is empty. */
  readonly restartLook: string;
  /** How to press keys, where that has to be said. */
  readonly keyHelp: string | null;
}

/** The command's terminal: what happens and when, colours only where there are some. */
export interface Screen {
  readonly step: (text: string) => void;
  readonly note: (text: string) => void;
  ready(ready: Ready): void;
}

export function startScreen(out: NodeJS.WriteStream): Screen {
  const color = out.isTTY === true && !process.env.NO_COLOR;
  const paint = (code: number) => (text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const [bold, dim, cyan] = [paint(1), paint(2), paint(36)];
  const width = Math.max(60, Math.min(120, out.columns ?? 100) - 6);
  const begun = Date.now();
  const print = (text = "") => void out.write(`${text}\n`);
  print(bold("A real Paperclip server, the agents it has as Kubernetes Jobs, a scripted LLM"));
  return {
    step: (text) => print(`${dim(`${((Date.now() - begun) / 1000).toFixed(1).padStart(6)} s`)}  ${text}`),
    note: (text) => print(`\n${text}`),
    ready(ready) {
      const [first, second] = ready.staff.agents.map((agent) => `${agent.name} (${ready.staff.titleOf(agent)})`);
      print(`\n  ${bold("Open")}          ${cyan(ready.start)}  gives ${first} and ${second} a minute of work and leads you to it`);
      if (ready.signIn !== null) print(`  ${bold("Sign in")}       ${ready.signIn.email}, password ${ready.signIn.password}`);
      print(`  ${bold("Dashboard")}     ${cyan(`${ready.pages}/dashboard`)}`);
      print(`  ${bold("Command line")}  ${ready.command} status    in another terminal; also policy, recover, drain, sweep, help`);
      print(`\n  ${bold("Six things to try")}`);
      things(ready).forEach(([title, ...lines], index) => {
        print(`  ${bold(`${index + 1}  ${title}`)}`);
        for (const line of lines) for (const part of wrapped(line, width)) print(`     ${part}`);
      });
      print(
        `\n  ${bold("Keys")}  w work for a minute, p pause or resume, r restart, h this list again, q or Ctrl-C end everything${ready.keyHelp === null ? "" : dim(`; ${ready.keyHelp}`)}\n`,
      );
    },
  };
}

/** Lines of at most that many columns; a longer word, such as a path to copy, stays whole. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Each with what to look at. */
const things = ({
  start,
  pages,
  command,
  whilePaused,
  pausedLook,
  restartDescription,
  restartLook,
  staff,
}: Ready): readonly (readonly [string, ...string[]])[] => [
  [
    "Watch a live run",
    `Open ${start} (again, or w, for another one). The transcript grows by a step every three seconds; the Job's name is in the system messages at its beginning (click to open them).`,
    `${staff.agents.map(({ name }) => name).join(", ")} were there before the adapters were installed: look at their settings, nothing in them names Kubernetes.`,
  ],
  [
    "Pause and resume",
    `p, then w: ${whilePaused}. p, then w: Jobs again.`,
    `Look at: ${pausedLook}. p is the power button on ${new URL("/instance/settings/adapters", pages)}.`,
  ],
  [
    "Cancel a run",
    "Cancel on the run's page. The pod is gone within seconds; the tokens up to then are on the run's page, and the cost where the CLI has reported it by then.",
    "The issue is free: a comment on it starts the agent again, in the same session.",
  ],
  [
    "Restart the server under it",
    `r: ${restartDescription}.`,
    `Look at: ${restartLook}the run that follows on the same issue. Its transcript has every step, its header the cost. Paperclip's own notes on the issue ("Stopped", "Missing issue disposition") are about the run that it lost.`,
  ],
  [
    "Give a task of your own",
    `${pages}/issues: a new task for one of the agents, in any words. It looks around, answers and closes the issue.`,
    `Or make an agent of your own: ${pages}/agents/new, with the adapter ${TYPES.map(labelOf).join(" or ")}. (For the types that Paperclip has itself, its page wants an account of a real provider.)`,
    "Words in its title or text that make it do more:",
    "  minute         works for a minute, as above",
    "  ask            asks you something on the issue's page, and goes on with your answer",
    "  crash          its CLI dies once; the host goes on by itself",
    "  out of memory  its pod is killed for it (embedded cluster only)",
    "  unauthorized   the model's provider refuses the key; also quota, overloaded",
    `Any task for ${WRONG_COMMAND}: the program in its setting Command does not exist. Read the issue's page, clear Command (Harness / Runtime, Advanced) on the agent's page, and go on from the issue's page.`,
  ],
  [
    "Use the command line",
    `${command} status shows every agent's Job, ${command} policy what agents get and may use, ${command} recover what is held and why: nothing.`,
  ],
];
