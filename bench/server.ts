// Stands for the host's server, in a process of its own, so that its CPU and memory are the adapter's.

import { createEngine } from "@paperclip-k8s/engine";
import { createAdapter } from "@paperclip-k8s/paperclip";
import { hostContext } from "@paperclip-k8s/paperclip/testing";
import { TEST_POLICY } from "@paperclip-k8s/paperclip/testing/test-policy";
import type { Script } from "./stamp.ts";
import { standIn } from "./stand-in.ts";

export interface Ask {
  readonly id: number;
  readonly name: string;
  readonly script: Script;
  readonly config: Record<string, unknown>;
  /** The run is cancelled when its log says this. */
  readonly until: string | null;
  /** The operator's policy file, in place of the one of all test beds. */
  readonly policy: string | null;
}

export interface RunRecord {
  readonly id: number;
  readonly calledAt: number;
  readonly returnedAt: number;
  readonly exitCode: number | null;
  readonly error: string | null;
  readonly log: readonly { readonly at: number; readonly text: string }[];
}

export interface Usage {
  readonly id: number;
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
}

const engine = createEngine();

const adapters = new Map<string, ReturnType<typeof createAdapter>>();

// One for all runs of a kind, as the host has one.
function adapterFor(script: Script, policy: string | null): ReturnType<typeof createAdapter> {
  const key = JSON.stringify([script, policy]);
  const serverEnv = policy === null ? TEST_POLICY : { PAPERCLIP_K8S_POLICY: policy };
  const adapter = adapters.get(key) ?? createAdapter(standIn(script), { engine, serverEnv });
  adapters.set(key, adapter);
  return adapter;
}

async function run({ id, name, script, config, until, policy }: Ask): Promise<RunRecord> {
  const log: { at: number; text: string }[] = [];
  const stop = new AbortController();
  const adapter = adapterFor(script, policy);
  const calledAt = Date.now();
  const onLog = async (_: string, text: string) => {
    // What is written in bulk is not the adapter's memory.
    if (script.kind !== "bulk") log.push({ at: Date.now(), text });
    if (until !== null && text.includes(until)) stop.abort(new Error("seen"));
  };
  const { ctx } = hostContext({
    runId: name,
    agent: name,
    company: "bench",
    task: "Write your lines.",
    config,
    signal: stop.signal,
    // What is not measured is not kept either.
    change: { onLog, onMeta: undefined },
  });
  const result = await adapter.execute(ctx);
  return { id, calledAt, returnedAt: Date.now(), exitCode: result.exitCode, error: result.errorMessage ?? null, log };
}

let notOurs = 0;

function usage(id: number): Usage {
  const { user, system } = process.cpuUsage();
  // Garbage is nobody's memory; its collection here is the bench's own work.
  globalThis.gc?.();
  const afterwards = process.cpuUsage({ user, system });
  const cpuMs = (user + system - notOurs) / 1000;
  notOurs += afterwards.user + afterwards.system;
  const { rss, heapUsed } = process.memoryUsage();
  return { id, cpuMs, rssBytes: rss, heapBytes: heapUsed };
}

process.on("message", async (ask: Ask | { readonly id: number; readonly usage: true }) => {
  process.send?.("usage" in ask ? usage(ask.id) : await run(ask));
});
process.on("disconnect", () => process.exit(0));
