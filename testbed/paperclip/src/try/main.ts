// npm run paperclip: a real Paperclip server whose agents were there before the adapters.
import { parseArgs } from "node:util";
import { packAdapters } from "../packages/install.ts";
import { prepareRelease, VERSIONS } from "../server/release.ts";
import { dropRoot } from "../server/user.ts";
import { type Screen, startScreen } from "./screen/screen.ts";
import { type Crashes, runSession } from "./session.ts";
import { keptFolder, type Opened, openEmbedded, openOnKube } from "./where.ts";

const HELP = `A real Paperclip server with a company of agents and a scripted LLM. The adapters then take the built-in ones' place; prints what to try.

  npm run paperclip              beside an embedded cluster: no root, no Docker, no key
  npm run paperclip -- --kube    inside a real Kubernetes, from deploy/ (npm run kube:up first)
  npm run paperclip -- --keep    the data stays, and the next start with --keep goes on with it
  npm run paperclip -- --help    this text

The first start installs Paperclip from npm (1.4 GB, 1 to 3 minutes, once). q ends everything; nothing stays behind without --keep.`;

const OPTIONS = { kube: { type: "boolean" }, keep: { type: "boolean" }, help: { type: "boolean", short: "h" } } as const;

interface Wishes {
  readonly kube: boolean;
  readonly keep: boolean;
}

async function main(args: string[]): Promise<number> {
  const wishes = readWishes(args);
  if (wishes === null) return args.some((arg) => arg === "--help" || arg === "-h") ? say(HELP, 0) : say(`Unknown option\n\n${HELP}`, 2);
  const screen = startScreen(process.stdout);
  const stopping = onInterrupt(screen);
  const crashes: Crashes = { onCrash: () => {} };
  let opened: Opened | null = null;
  try {
    opened = await open(wishes, crashes, screen);
    if (!stopping.signal.aborted) await runSession(opened, crashes, screen, stopping);
    return 0;
  } catch (error) {
    if (stopping.signal.aborted) return 130; // a Ctrl-C reaches the programs we wait for too
    throw error;
  } finally {
    crashes.onCrash = () => {};
    stopping.abort();
    screen.note(opened === null ? "Nothing is left behind." : await opened.close(screen.step));
  }
}

const say = (text: string, code: number): number => {
  console.log(text);
  return code;
};

function readWishes(args: string[]): Wishes | null {
  try {
    const { values } = parseArgs({ args, options: OPTIONS });
    return values.help ? null : { kube: values.kube ?? false, keep: values.keep ?? false };
  } catch {
    return null;
  }
}

async function open({ kube, keep }: Wishes, crashes: Crashes, screen: Screen): Promise<Opened> {
  const [version] = VERSIONS;
  screen.step(`Paperclip ${version}`);
  await prepareRelease(version, screen.step);
  const packed = await packAdapters(screen.step);
  const kept = keep && !kube ? { keepAt: keptFolder() } : {};
  if (!kube) dropRoot();
  const options = { version, ui: true, say: screen.step, onCrash: (how: string) => crashes.onCrash(how), ...kept };
  return kube ? openOnKube(packed, options, keep) : openEmbedded(packed, options);
}

/** The first Ctrl-C ends in order, a second one at once. */
function onInterrupt(screen: Screen): AbortController {
  const controller = new AbortController();
  // Waiting for a signal alone does not keep a process alive.
  const alive = setInterval(() => {}, 60_000);
  let asked = false;
  controller.signal.addEventListener("abort", () => {
    clearInterval(alive);
    if (!asked) screen.note("ending; a moment please");
    asked = true;
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(130);
      controller.abort();
    });
  }
  return controller;
}

process.exit(await main(process.argv.slice(2)));
