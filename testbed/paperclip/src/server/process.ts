import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TEST_POLICY } from "@paperclip-k8s/paperclip/testing/test-policy";
import { databasePid, type Home } from "./home.ts";
import { COMPILED } from "./release.ts";
import type { PaperclipOptions } from "./server.ts";
import { serverUser } from "./user.ts";

export interface ServerProcess {
  readonly pid: number;
  /** How it ended; null while it runs. */
  exit(): string | null;
  log(): string;
  readonly ended: Promise<void>;
}

/** The server as its own process, with nothing of our environment but the path. */
export function spawnServer(release: string, home: Home, options: Pick<PaperclipOptions, "ui" | "env">): ServerProcess {
  const entry = join(release, "node_modules/@paperclipai/server/dist/index.js");
  if (!existsSync(entry)) throw new Error(`${release} holds no Paperclip server; remove the folder to have it installed anew`);
  const log = openSync(home.log, "a");
  const child = spawn(process.execPath, [entry], {
    cwd: home.tmp,
    env: environment(home, options),
    stdio: ["ignore", log, log],
    detached: true, // a Ctrl-C is for us; we end it in order
    ...serverUser(),
  });
  closeSync(log);
  let exit: string | null = null;
  const ended = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      exit = error.message;
      resolve();
    });
    child.once("exit", (code, signal) => {
      exit = signal ?? `exit code ${code}`;
      resolve();
    });
  });
  writeFileSync(join(home.root, "server.pid"), String(child.pid ?? ""));
  return { pid: child.pid ?? -1, exit: () => exit, log: () => (existsSync(home.log) ? readFileSync(home.log, "utf8") : ""), ended };
}

function environment(home: Home, options: Pick<PaperclipOptions, "ui" | "env">): NodeJS.ProcessEnv {
  return {
    PATH: [dirname(process.execPath), process.env.PATH ?? "/usr/bin:/bin"].join(":"),
    HOME: home.tmp,
    TMPDIR: home.tmp,
    LANG: "C.UTF-8",
    NODE_ENV: "production",
    ...(existsSync(COMPILED) ? { NODE_COMPILE_CACHE: COMPILED } : {}),
    PAPERCLIP_HOME: home.path,
    PAPERCLIP_INSTANCE_ID: "default",
    PAPERCLIP_DEPLOYMENT_MODE: "local_trusted",
    HOST: "127.0.0.1",
    PORT: String(home.port),
    PAPERCLIP_API_URL: `http://127.0.0.1:${home.port}`,
    PAPERCLIP_AGENT_JWT_SECRET: home.jwtSecret, // without it a run gets no token
    PAPERCLIP_MIGRATION_AUTO_APPLY: "true",
    PAPERCLIP_TELEMETRY_DISABLED: "1",
    PAPERCLIP_DB_BACKUP_ENABLED: "false",
    SERVE_UI: options.ui ? "true" : "false",
    ...TEST_POLICY,
    ...options.env,
  };
}

export async function endProcess(server: ServerProcess, signal: "SIGTERM" | "SIGKILL", patienceMs: number): Promise<void> {
  if (server.exit() !== null) return;
  send(server.pid, signal);
  await Promise.race([server.ended, sleep(patienceMs, undefined, { ref: false })]);
  if (server.exit() !== null) return;
  send(server.pid, "SIGKILL");
  await server.ended;
}

/** A database that the last server did not start itself is not stopped by it either. */
export async function endDatabase(home: Home): Promise<void> {
  const pid = databasePid(home);
  if (pid === null) return;
  for (const signal of ["SIGINT", "SIGQUIT", "SIGKILL"] as const) {
    send(pid, signal);
    for (let waited = 0; waited < 5000; waited += 100) {
      if (!send(pid, 0)) return;
      await sleep(100);
    }
  }
  for (const name of [`.s.PGSQL.${home.databasePort}`, `.s.PGSQL.${home.databasePort}.lock`]) rmSync(join("/tmp", name), { force: true });
}

/** Programs that the server started and did not wait for; they would write to its home after it is gone. */
export const endRest = (server: ServerProcess): boolean => server.pid > 1 && send(-server.pid, "SIGKILL");

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
