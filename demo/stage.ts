import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Llm, startLlm } from "@paperclip-k8s/llm";
import { TEST_POLICY } from "@paperclip-k8s/paperclip/testing/test-policy";
import { type Pocket, startPocket } from "@paperclip-k8s/pocket";
import type { DemoAgent } from "./agents.ts";

const BIN = join(fileURLToPath(new URL("..", import.meta.url)), "node_modules/.bin");

/** Everything a demo run needs: an embedded cluster, a scripted LLM, a shared volume, and the agent's settings for them. */
export interface Stage {
  readonly cluster: Pocket;
  readonly llm: Llm;
  /** One for all runs, as in a server. */
  readonly adapter: ReturnType<DemoAgent["createServerAdapter"]>;
  readonly config: Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

export async function openStage(agent: DemoAgent): Promise<Stage> {
  const data = realpathSync(mkdtempSync(join(tmpdir(), "demo-")));
  Object.assign(process.env, TEST_POLICY);
  const removeData = () => rmSync(data, { recursive: true, force: true });
  process.once("exit", removeData);
  const path = [BIN, dirname(realpathSync(process.execPath)), ...(process.env.PATH ?? "").split(delimiter)];
  const [cluster, llm] = await Promise.all([startPocket({ images: { "agent:1": { path } } }), startLlm()]);
  cluster.createNamespace("agents");
  cluster.createClaim("agents", "data", data);
  return {
    cluster,
    llm,
    adapter: agent.createServerAdapter(),
    config: {
      kubeconfig: cluster.kubeconfig,
      namespace: "agents",
      image: "agent:1",
      dataClaim: "data",
      dataPath: data,
      graceSec: 5,
      promptTemplate: "You are {{agent.name}}.",
      ...agent.settings(llm),
    },
    close: async () => {
      await Promise.allSettled([cluster.stop(), llm.stop()]);
      removeData();
    },
  };
}
