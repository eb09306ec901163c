// Stands for the host's server, in a process of its own, so that its CPU and memory are the adapter's.
import { createEngine } from "@paperclip-k8s/engine";
import { createAdapter } from "@paperclip-k8s/paperclip";
import { STORED_MS } from "../packages/paperclip/src/server-parts.ts";
import type { Address, RunAsk, ServerOptions } from "./protocol.ts";
import { openRelay } from "./relay.ts";
import { serve } from "./serve.ts";
import { standIn } from "./stand-in.ts";

const { loss } = JSON.parse(process.argv[2] ?? "{}") as ServerOptions;
const relay = loss === null ? null : await openRelay(loss);
let wakeUpAt: Address | null = null;

function wakeUpAddress(own: Address): Address {
  wakeUpAt = own;
  return relay?.before(own) ?? own;
}

const engines = new Map<number, ReturnType<typeof createEngine>>();
const adapters = new Map<string, ReturnType<typeof createAdapter>>();

function engineOf(instance: number): ReturnType<typeof createEngine> {
  const options = { lingerMs: STORED_MS, wakeUpAddress };
  const engine = engines.get(instance) ?? createEngine(options);
  engines.set(instance, engine);
  return engine;
}

// One for all runs of a kind, as the host has one.
function adapterFor({ script, policy, instance, hostPort }: RunAsk): ReturnType<typeof createAdapter> {
  const key = JSON.stringify([script, policy, instance, hostPort]);
  const serverEnv = {
    PAPERCLIP_K8S_POLICY: policy,
    PAPERCLIP_K8S_WAKE_UPS: process.env.PAPERCLIP_K8S_WAKE_UPS,
    ...(hostPort === null ? {} : { PAPERCLIP_LISTEN_PORT: String(hostPort) }),
  };
  const adapter = adapters.get(key) ?? createAdapter(standIn(script), { engine: engineOf(instance), serverEnv });
  adapters.set(key, adapter);
  return adapter;
}

serve({ adapterFor, wakeUpAt: () => wakeUpAt });
