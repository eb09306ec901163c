import { realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { type Llm, startLlm } from "@paperclip-k8s/llm";
import { type Pocket, startPocket } from "@paperclip-k8s/pocket";
import { adaptersOf } from "./adapters.ts";
import { Company } from "./company.ts";
import type { PackedAdapter } from "./install.ts";
import { ROOT } from "./release.ts";
import { type Paperclip, type PaperclipOptions, startPaperclip } from "./server.ts";
import { serverUser } from "./user.ts";

const NAMESPACE = "agents";
/** Programs that the agents of the testbed have besides their CLI. */
const IMAGE = join(ROOT, "testbed/paperclip/image");

/** A real host with our adapter, an embedded cluster, a scripted model and a company. */
export interface Stage {
  readonly host: Paperclip;
  readonly cluster: Pocket;
  readonly namespace: string;
  readonly llm: Llm;
  readonly company: Company;
  /** adapterConfig of an agent that runs the real OpenCode against the scripted model. */
  readonly config: Readonly<Record<string, unknown>>;
  stop(): Promise<void>;
}

export async function openStage(packed: PackedAdapter, options: PaperclipOptions): Promise<Stage> {
  if (serverUser() !== null) throw new Error("The cluster's pods would run as root and the server would not: call dropRoot() first");
  const opened: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    for (const part of opened.reverse()) await part.stop();
  };
  const keep = <T extends { stop(): Promise<void> }>(part: T): T => {
    opened.push(part);
    return part;
  };
  try {
    const path = [
      IMAGE,
      join(ROOT, "node_modules/.bin"),
      dirname(realpathSync(process.execPath)),
      ...(process.env.PATH ?? "").split(delimiter),
    ];
    const cluster = keep(await startPocket({ images: { "agent:1": { path } } }));
    const llm = keep(await startLlm());
    const host = keep(await startPaperclip(options));
    cluster.createNamespace(NAMESPACE);
    cluster.createClaim(NAMESPACE, "data", host.home.path);
    await adaptersOf(host.url).install(packed);
    const company = await Company.create(host.url, "Testbed");
    return { host, cluster, namespace: NAMESPACE, llm, company, config: agentConfig(cluster, llm), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** `dataPath` is left out: it must follow from the server's own PAPERCLIP_HOME. */
function agentConfig(cluster: Pocket, llm: Llm) {
  const scripted = {
    npm: "@ai-sdk/openai-compatible",
    options: { baseURL: `${llm.url}/v1`, apiKey: "not-a-key" },
    // Dear, because the host counts costs in whole cents and a scripted run is short.
    models: { m: { limit: { context: 100_000, output: 4096 }, cost: { input: 300, output: 1500, cache_read: 30 } } },
  };
  const plain = (value: string) => ({ type: "plain", value });
  return {
    kubeconfig: cluster.kubeconfig,
    namespace: NAMESPACE,
    image: "agent:1",
    dataClaim: "data",
    graceSec: 5,
    model: "scripted/m",
    env: { PAPERCLIP_OPENCODE_PROVIDERS: plain(JSON.stringify({ scripted })), OPENCODE_DISABLE_MODELS_FETCH: plain("1") },
  };
}
