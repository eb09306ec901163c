import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Bed, settingsFor, startBed } from "../../../suite/src/bed.ts";
import { ServerProcess } from "../server/server-process.ts";
import { type Listener, startListener } from "./listener.ts";

/** A cluster, the program for its pods, the test's own listener, and servers with a policy. */
export interface Stage {
  readonly bed: Bed;
  readonly listener: Listener;
  /** A second listener, which no attack may reach. */
  readonly other: Listener;
  /** Settings of every agent. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The cluster, the image and the volume are the policy's: agents need no settings for them. */
  startServer(policy?: Readonly<Record<string, unknown>>): Promise<ServerProcess>;
  stop(): Promise<void>;
}

/** What only the server knows; no pod, prompt or log may show it. */
export const SERVER_SECRET = "server-s3cret-that-no-agent-may-see";

/** Many at once must fit on one node. */
const SMALL = { "resources.requests.cpu": "100m", "resources.requests.memory": "32Mi", "resources.limits.memory": "512Mi" };

export async function openStage(): Promise<Stage> {
  const bed = await startBed();
  const [listener, other] = await Promise.all([startListener(bed.hostAddress), startListener(bed.hostAddress)]);
  const folder = join(tmpdir(), `hostile-${bed.namespace}-${process.pid}-${Date.now().toString(36)}`);
  await mkdir(folder, { recursive: true });
  const program = join(folder, "program.cjs");
  await build({
    entryPoints: [fileURLToPath(new URL("../attacker/main.ts", import.meta.url))],
    outfile: program,
    bundle: true,
    platform: "node",
    target: "node18",
    format: "cjs",
    logLevel: "silent",
  });
  const servers: ServerProcess[] = [];
  return {
    bed,
    listener,
    other,
    settings: { ...SMALL, graceSec: 5, promptTemplate: "Work." },
    startServer: async (policy = {}) => {
      const file = join(folder, `policy-${servers.length}.json`);
      await writeFile(file, JSON.stringify({ defaults: settingsFor(bed), ...policy }));
      const server = await ServerProcess.start(program, serverEnv(bed, listener, file));
      servers.push(server);
      return server;
    },
    stop: async () => {
      for (const server of servers) await server.stop();
      await Promise.all([listener.stop(), other.stop()]);
      await bed.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Of the server's process, and of commands that run beside it. */
export function serverEnv(bed: Bed, listener: Listener, policy: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: "/nonexistent",
    PAPERCLIP_HOME: bed.data,
    PAPERCLIP_API_URL: `${listener.url}/api`,
    PAPERCLIP_K8S_POLICY: policy,
    BETTER_AUTH_SECRET: SERVER_SECRET,
    DATABASE_URL: `postgres://paperclip:${SERVER_SECRET}@db/paperclip`,
    PAPERCLIP_AGENT_JWT_SECRET: SERVER_SECRET,
  };
}
