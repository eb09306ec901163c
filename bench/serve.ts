import { globalAgent as httpAgent } from "node:http";
import { globalAgent as httpsAgent } from "node:https";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { ServerAdapter } from "@paperclip-k8s/paperclip/host";
import { hostContext } from "@paperclip-k8s/paperclip/testing";
import { type Address, type Ask, BENCH_COMPANY, type Delays, type RunAsk, type RunRecord, type Usage } from "./protocol.ts";

const RESOLUTION_MS = 1;

interface Served {
  adapterFor(ask: RunAsk): Pick<ServerAdapter, "execute">;
  wakeUpAt?(): Address | null;
}

/** Answers the bench: what any server of it does, whichever adapter it has. */
export function serve({ adapterFor, wakeUpAt = () => null }: Served): void {
  // A host serves HTTP and asks others: it has loaded these modules long before its first run.
  for (const agent of [httpAgent, httpsAgent]) agent.destroy();
  process.on("message", async (ask: Ask) => {
    if (ask.kind === "cancel") running.get(ask.runId)?.abort(new Error("measured"));
    else if (ask.kind === "run") process.send?.(await run(adapterFor(ask), ask));
    else process.send?.(ask.kind === "usage" ? usage(ask.id, wakeUpAt()) : delays(ask.id));
  });
  process.on("disconnect", () => process.exit(0));
}

/** What adapters of other hosts insist on being given. */
const FORKS: object = { onExternalRuntimeLaunched: async () => {} };

const running = new Map<string, AbortController>();

async function run(adapter: Pick<ServerAdapter, "execute">, ask: RunAsk): Promise<RunRecord> {
  const { id, runId, agent, taskKey, script, config, until, hostPort, hasSignal } = ask;
  const log: { at: number; text: string }[] = [];
  const stop = new AbortController();
  running.set(runId, stop);
  const calledAt = Date.now();
  const onLog = async (_: string, text: string) => {
    // What is written in bulk is not the adapter's memory.
    if (script.kind !== "bulk") log.push({ at: Date.now(), text });
    if (until !== null && text.includes(until)) stop.abort(new Error("seen"));
  };
  const { ctx } = hostContext({
    runId,
    agent,
    taskKey,
    company: BENCH_COMPANY,
    task: "Write your lines.",
    config,
    signal: stop.signal,
    // What is not measured is not kept either.
    change: {
      onLog,
      onMeta: undefined,
      ...FORKS,
      ...(hostPort === null ? {} : { authToken: "token-of-the-run" }),
      ...(hasSignal ? {} : { signal: undefined, onCancellationReady: undefined }),
    },
  });
  const result = await adapter.execute(ctx);
  running.delete(runId);
  return { id, calledAt, returnedAt: Date.now(), exitCode: result.exitCode, error: result.errorMessage ?? null, log };
}

let notOurs = 0;

function usage(id: number, wakeUpAt: Address | null): Usage {
  const { user, system } = process.cpuUsage();
  // Garbage is nobody's memory; its collection here is the bench's own work.
  globalThis.gc?.();
  const afterwards = process.cpuUsage({ user, system });
  const cpuMs = (user + system - notOurs) / 1000;
  notOurs += afterwards.user + afterwards.system;
  const { rss, heapUsed } = process.memoryUsage();
  return { id, cpuMs, rssBytes: rss, heapBytes: heapUsed, wakeUpAt };
}

let histogram: ReturnType<typeof monitorEventLoopDelay> | null = null;
let mostCpuMs = 0;

/** Only where it is asked for: a timer of each millisecond costs more CPU than a run does. */
function delays(id: number): Delays {
  const beyond = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  const seen = { id, maxMs: beyond(histogram?.max ?? 0), p99Ms: beyond(histogram?.percentile(99) ?? 0), cpuMs: mostCpuMs };
  if (histogram === null) {
    histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    histogram.enable();
    watchCpu();
  }
  histogram.reset();
  mostCpuMs = 0;
  return seen;
}

/** What the loop itself has computed between two of its turns: on a busy machine it also waits for a core. */
function watchCpu(): void {
  let last = process.threadCpuUsage();
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    mostCpuMs = Math.max(mostCpuMs, (user + system) / 1000);
    last = process.threadCpuUsage();
  }, RESOLUTION_MS).unref();
}
