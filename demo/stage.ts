import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Llm, startLlm } from "@paperclip-k8s/llm";
import { type Pocket, startPocket } from "@paperclip-k8s/pocket";

const MODULES = join(fileURLToPath(new URL("..", import.meta.url)), "node_modules");
const BIN = join(MODULES, ".bin");

/** Everything a demo run needs: an embedded cluster, a scripted LLM, a shared volume, and the agent's settings for them. */
export interface Stage {
  readonly cluster: Pocket;
  readonly llm: Llm;
  readonly cliVersion: string;
  readonly config: Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const data = realpathSync(mkdtempSync(join(tmpdir(), "demo-")));
  const removeData = () => rmSync(data, { recursive: true, force: true });
  process.once("exit", removeData);
  const path = [BIN, dirname(realpathSync(process.execPath)), ...(process.env.PATH ?? "").split(delimiter)];
  const [cluster, llm] = await Promise.all([startPocket({ images: { "agent:1": { path } } }), startLlm()]);
  cluster.createNamespace("agents");
  cluster.createClaim("agents", "data", data);
  return {
    cluster,
    llm,
    // Asking the CLI itself would leave folders in the user's home.
    cliVersion: JSON.parse(readFileSync(join(MODULES, "opencode-ai/package.json"), "utf8")).version,
    config: {
      kubeconfig: cluster.kubeconfig,
      namespace: "agents",
      image: "agent:1",
      dataClaim: "data",
      dataPath: data,
      graceSec: 5,
      promptTemplate: "You are {{agent.name}}.",
      ...model(llm),
    },
    close: async () => {
      await Promise.allSettled([cluster.stop(), llm.stop()]);
      removeData();
    },
  };
}

/** The scripted LLM as an OpenCode provider, with prices, so that a cost can be shown. */
function model(llm: Llm) {
  const scripted = {
    npm: "@ai-sdk/openai-compatible",
    name: "Scripted",
    options: { baseURL: `${llm.url}/v1`, apiKey: "not-a-key" },
    models: { "demo-1": { limit: { context: 100_000, output: 4096 }, cost: { input: 3, output: 15, cache_read: 0.3 } } },
  };
  const env = { PAPERCLIP_OPENCODE_PROVIDERS: JSON.stringify({ scripted }), OPENCODE_DISABLE_MODELS_FETCH: "1" };
  return { model: "scripted/demo-1", env };
}
