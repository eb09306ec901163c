import { HANG_MS } from "../wait.ts";
import { guard } from "./guard.ts";
import { createHome, type Home, removeHome } from "./home.ts";
import { endDatabase, endProcess, endRest, type ServerProcess, spawnServer } from "./process.ts";
import { prepareRelease, type Version } from "./release.ts";
import { takeTemplate } from "./template.ts";

export interface PaperclipOptions {
  readonly version: Version;
  /** A folder for the home, used again and never removed; a temporary one unless given. */
  readonly keepAt?: string;
  /** Serve the web pages too; off by default. */
  readonly ui?: boolean;
  /** More environment for the server, for example settings of its scheduler. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called when it ends although nobody here has ended it. */
  readonly onCrash?: (how: string) => void;
  /** Called with progress while it installs and starts. */
  readonly say?: (line: string) => void;
}

/** A real Paperclip server, from npm, with a database of its own. */
export interface Paperclip {
  readonly version: Version;
  readonly url: string;
  readonly home: Home;
  readonly pid: number;
  /** Sends the signal, waits for the end; the database outlives a SIGKILL. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** Starts a new server process on the same home. */
  start(): Promise<void>;
  restart(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** The server's log so far. */
  log(): string;
  /** Ends server and database and removes the home. */
  stop(): Promise<void>;
}

const START_MS = HANG_MS;
// One that is killed in the middle of its own ending looks like a crash to the next.
const TERM_MS = 120_000;

export async function startPaperclip(options: PaperclipOptions): Promise<Paperclip> {
  const say = options.say ?? (() => {});
  const release = await prepareRelease(options.version, say);
  const home = await createHome(options.keepAt);
  if (options.keepAt === undefined) takeTemplate(home, options.version);
  const dismissGuard = guard(home, options.keepAt === undefined);
  let server: ServerProcess;
  let unwanted: ServerProcess | null = null;

  const start = async () => {
    const begun = Date.now();
    say(`starting Paperclip ${options.version} on port ${home.port}`);
    server = spawnServer(release, home, options);
    await untilHealthy(server, home, Date.now() + START_MS);
    say(`Paperclip ${options.version} answers after ${((Date.now() - begun) / 1000).toFixed(1)} s`);
    const started = server;
    void started.ended.then(() => started !== unwanted && options.onCrash?.(String(started.exit())));
  };
  const end = (signal: "SIGTERM" | "SIGKILL") => {
    unwanted = server;
    return endProcess(server, signal, TERM_MS);
  };
  const stop = async () => {
    await end("SIGTERM");
    await endDatabase(home);
    endRest(server);
    dismissGuard();
    if (options.keepAt === undefined) removeHome(home);
  };

  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    version: options.version,
    url: `http://127.0.0.1:${home.port}`,
    home,
    get pid() {
      return server.pid;
    },
    end,
    start,
    restart: async (signal = "SIGTERM") => {
      await end(signal);
      await start();
    },
    log: () => server.log(),
    stop,
  };
}

/** It answers before its start-up recovery is through; only "ok" means that runs are looked after. */
async function untilHealthy(server: ServerProcess, home: Home, deadline: number): Promise<void> {
  let last = "no answer";
  while (Date.now() < deadline) {
    if (server.exit() !== null) throw new Error(`Paperclip ended while starting (${server.exit()}):\n${server.log().slice(-4000)}`);
    try {
      const answer = await fetch(`http://127.0.0.1:${home.port}/api/health`, { signal: AbortSignal.timeout(5000) });
      const { status } = (await answer.json()) as { status?: string };
      if (status === "ok") return;
      last = String(status);
    } catch (error) {
      last = error instanceof Error ? error.name : String(error);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`Paperclip is not healthy after ${START_MS / 1000} s (${last}):\n${server.log().slice(-4000)}`);
}
