import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { serverUser } from "./user.ts";

/** Where one server lives: its folders, its ports, its secret. Stays the same over restarts. */
export interface Home {
  /** Holds everything below and nothing else. */
  readonly root: string;
  /** PAPERCLIP_HOME, and the shared volume of server and pods. */
  readonly path: string;
  readonly tmp: string;
  readonly log: string;
  readonly port: number;
  readonly databasePort: number;
  readonly jwtSecret: string;
}

/** A new home in a temporary folder, or the one in the given folder, which stays. */
export async function createHome(kept?: string): Promise<Home> {
  const known = kept === undefined ? null : readKept(kept);
  if (known !== null) return known;
  const root = realpathSync(kept ?? mkdtempSync(join(tmpdir(), "paperclip-")));
  const [port, databasePort] = await freePorts(2);
  const home = {
    root,
    path: join(root, "home"),
    tmp: join(root, "tmp"),
    log: join(root, "server.log"),
    port: port!,
    databasePort: databasePort!,
    jwtSecret: randomBytes(32).toString("hex"),
  };
  const config = configPath(home);
  for (const folder of [home.path, home.tmp, join(home.path, "instances"), dirname(config)]) mkdirSync(folder, { recursive: true });
  writeFileSync(config, JSON.stringify(configFile(home), null, 2));
  writeFileSync(home.log, "");
  // It has the secret with which runs' tokens are signed.
  writeFileSync(join(root, DESCRIPTION), JSON.stringify(home), { mode: 0o600 });
  const user = serverUser();
  const owned = [root, home.path, home.tmp, join(home.path, "instances"), dirname(config), config, home.log];
  if (user !== null) for (const path of owned) chownSync(path, user.uid, user.gid);
  chmodSync(root, 0o755);
  return home;
}

const DESCRIPTION = "home.json";

function readKept(root: string): Home | null {
  mkdirSync(root, { recursive: true });
  const file = join(root, DESCRIPTION);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Home) : null;
}

export function removeHome({ root }: Home): void {
  rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

/** Process id of the home's PostgreSQL, which outlives a killed server; null when there is none. */
export function databasePid(home: Home): number | null {
  try {
    const pid = Number(readFileSync(join(databaseDir(home), "postmaster.pid"), "utf8").split("\n")[0]);
    return Number.isInteger(pid) && pid > 1 ? pid : null;
  } catch {
    return null;
  }
}

export const databaseDir = ({ path }: Home): string => join(path, "instances/default/db");
const configPath = ({ path }: Home): string => join(path, "instances/default/config.json");

// The only way to give the database a port of its own: two homes on the default one may open each other's data.
function configFile(home: Home) {
  return {
    $meta: { version: 1, updatedAt: new Date().toISOString(), source: "onboard" },
    database: {
      mode: "embedded-postgres",
      embeddedPostgresDataDir: databaseDir(home),
      embeddedPostgresPort: home.databasePort,
      backup: { enabled: false },
    },
    logging: { mode: "file", logDir: join(home.path, "instances/default/logs") },
    server: { deploymentMode: "local_trusted", host: "127.0.0.1", port: home.port },
    telemetry: { enabled: false },
    updates: { checkEnabled: false },
  };
}

export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createServer();
      return new Promise<typeof server>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", () => resolve(server)));
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
