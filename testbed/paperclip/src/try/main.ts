// npm run paperclip: a real Paperclip server with both adapters, agents at work, to look at in a browser.
import { parseArgs } from "node:util";
import { packAdapters } from "../install.ts";
import { prepareRelease, VERSIONS } from "../release.ts";
import type { AnyStage } from "../stage.ts";
import { dropRoot } from "../user.ts";
import { openInBrowser } from "./open-in-browser.ts";
import { type Screen, startScreen } from "./screen.ts";
import { seed } from "./seed.ts";
import { keptFolder, type Opened, openEmbedded, openOnKube } from "./where.ts";

const HELP = `A real Paperclip server with both adapters, a scripted LLM, a company with two agents and an issue for each.

  npm run paperclip              beside an embedded cluster: no root, no Docker, no key
  npm run paperclip -- --kube    inside a real Kubernetes, from deploy/ (npm run kube:up first)
  npm run paperclip -- --keep    the data stays, and the next start with --keep goes on with it
  npm run paperclip -- --help    this text

The first start installs Paperclip from npm (1.4 GB, 1 to 3 minutes, once). Ctrl-C ends everything; nothing stays behind without --keep.`;

const OPTIONS = { kube: { type: "boolean" }, keep: { type: "boolean" }, help: { type: "boolean", short: "h" } } as const;

interface Wishes {
  readonly kube: boolean;
  readonly keep: boolean;
}

async function main(args: string[]): Promise<number> {
  const wishes = readWishes(args);
  if (wishes === null) return args.some((arg) => arg === "--help" || arg === "-h") ? say(HELP, 0) : say(`Unknown option\n\n${HELP}`, 2);
  const screen = startScreen(process.stdout);
  const interrupted = onInterrupt(screen);
  let opened: Opened | null = null;
  try {
    opened = await open(wishes, screen);
    if (!interrupted.aborted) await show(opened.stage, screen, interrupted);
    return 0;
  } catch (error) {
    if (interrupted.aborted) return 130; // a Ctrl-C reaches the programs we wait for too
    throw error;
  } finally {
    await opened?.close();
    screen.note(opened?.left ?? "Nothing is left behind.");
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

async function open({ kube, keep }: Wishes, screen: Screen): Promise<Opened> {
  const [version] = VERSIONS;
  screen.step(`Paperclip ${version}`);
  await prepareRelease(version, screen.step);
  const packed = await packAdapters(screen.step);
  const kept = keep && !kube ? keptFolder() : undefined;
  if (!kube) dropRoot();
  const options = { version, ui: true, say: screen.step, companyName: "Try it", ...(kept === undefined ? {} : { keepAt: kept }) };
  return kube ? openOnKube(packed, options, keep) : openEmbedded(packed, options);
}

/** Shows where the page is and how the agents are getting on, until somebody has seen enough. */
async function show(stage: AnyStage, screen: Screen, interrupted: AbortSignal): Promise<void> {
  const company = await seed(stage);
  const page = `${stage.host.url}/${company.prefix}/dashboard`;
  screen.ready(page, company.signIn);
  openInBrowser(page);
  await company.follow(screen.step, interrupted);
  if (!interrupted.aborted) screen.note("Both agents are done. Assign them more on the page; Ctrl-C ends everything.");
  await new Promise<void>((resolve) => {
    if (interrupted.aborted) return resolve();
    interrupted.addEventListener("abort", () => resolve());
  });
}

/** The first Ctrl-C ends in order, a second one at once. */
function onInterrupt(screen: Screen): AbortSignal {
  const controller = new AbortController();
  // Waiting for a signal alone does not keep a process alive.
  const alive = setInterval(() => {}, 60_000);
  controller.signal.addEventListener("abort", () => clearInterval(alive));
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(130);
      screen.note("ending; a moment please");
      controller.abort();
    });
  }
  return controller.signal;
}

process.exit(await main(process.argv.slice(2)));
