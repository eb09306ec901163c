import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { TEST_POLICY } from "@paperclip-k8s/paperclip/testing/test-policy";
import { type Bed, settingsFor } from "../testbed/suite/src/bed.ts";
import { bundled } from "./bundle.ts";
import { descendantsOf, residentBytes, usageOf } from "./processes.ts";
import type { Address, Answer, Ask, Delays, RunAsk, RunRecord, ServerOptions, Usage } from "./protocol.ts";
import type { Script } from "./stamp.ts";

/** CPU and memory of the server and of its reader; CPU so far. */
export interface HostUsage {
  readonly serverMs: number;
  readonly readerMs: number;
  readonly rssBytes: number;
  readonly readerRssBytes: number;
  readonly heapBytes: number;
  readonly wakeUpAt: Address | null;
}

/** What a run is to have otherwise. */
type Change = Partial<Pick<RunAsk, "runId" | "agent" | "taskKey" | "instance" | "config" | "until" | "policy" | "hostPort" | "hasSignal">>;

/** The server process and what it can be asked. */
export interface Host {
  run(script: Script, change?: Change): Promise<RunRecord>;
  cancel(runId: string): void;
  usage(): Promise<HostUsage>;
  /** How long the event loop was blocked since the last question. */
  delays(): Promise<Delays>;
  /** What both have in memory at this moment, garbage and all. */
  resident(): { readonly server: number; readonly reader: number };
  stop(): void;
}

interface HostOptions extends Partial<ServerOptions> {
  readonly env?: Readonly<Record<string, string>>;
  /** In place of the settings of all runs of the bench. */
  readonly config?: Record<string, unknown>;
}

export function startHost(bed: Bed, { loss = null, entry = null, env = {}, config = settingsOf(bed) }: HostOptions = {}): Host {
  const program = entry === null ? "server.ts" : "compare/entry-server.ts";
  const options: ServerOptions = { loss, entry };
  const child = fork(bundled(new URL(program, import.meta.url)), [JSON.stringify(options)], {
    serialization: "advanced",
    execArgv: ["--expose-gc"],
    // The API server is reached through a relay on loopback, which no pod of the real cluster reaches.
    env: { ...process.env, ...TEST_POLICY, PAPERCLIP_K8S_WAKE_UPS: bed.hostAddress, ...env },
  });
  const waiting = new Map<number, (answer: Answer) => void>();
  let last = 0;
  child.on("message", (answer: Answer) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  child.on("exit", (code) => {
    if (waiting.size === 0) return;
    console.error(`the server process ended with ${code}`);
    process.exit(1);
  });
  const ask = <A extends Answer>(question: (id: number) => Ask): Promise<A> =>
    new Promise((resolve) => {
      const id = ++last;
      waiting.set(id, (answer) => resolve(answer as A));
      child.send(question(id));
    });
  const readers = () => usageOf(descendantsOf(child.pid!));
  return {
    run: (script, change = {}) => ask((id) => ({ ...runAsk(script, change), id, config: { ...config, ...change.config } })),
    cancel: (runId) => void child.send({ kind: "cancel", runId } satisfies Ask),
    usage: async () => {
      const own = await ask<Usage>((id) => ({ kind: "usage", id }));
      const { cpuMs, rssBytes } = readers();
      return { serverMs: own.cpuMs, readerMs: cpuMs, readerRssBytes: rssBytes, ...own };
    },
    delays: () => ask((id) => ({ kind: "delays", id })),
    resident: () => ({ server: residentBytes(child.pid!), reader: readers().rssBytes }),
    stop: () => void (child.connected && child.disconnect()),
  };
}

function runAsk(script: Script, change: Change): Omit<RunAsk, "id" | "config"> {
  const { runId = `bench-${randomUUID()}`, agent = runId } = change;
  const {
    taskKey = null,
    instance = 0,
    until = null,
    policy = TEST_POLICY.PAPERCLIP_K8S_POLICY,
    hostPort = null,
    hasSignal = true,
  } = change;
  return { kind: "run", runId, agent, script, taskKey, instance, until, policy, hostPort, hasSignal };
}

export function settingsOf(bed: Bed): Record<string, unknown> {
  return {
    ...settingsFor(bed),
    resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { cpu: "2", memory: "1Gi" } },
  };
}
