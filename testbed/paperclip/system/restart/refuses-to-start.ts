import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { ClusterStage } from "../../src/cluster/stage.ts";
import { until } from "../../src/wait.ts";

/** A package that the new image lacks: the new pod's init container ends with its name, and the server is not started until it is there again. */
export async function refusesToStart({ deployed }: ClusterStage): Promise<void> {
  const notes = join(deployed.data, "adapter-plugins.json");
  const before = readFileSync(notes, "utf8");
  writeFileSync(notes, before.replaceAll("-local-k8s", "-gone-k8s"));
  try {
    await deployed.kubectl("rollout", "restart", "deployment/paperclip");
    const said = await until("the refusal", async () => {
      const log = await deployed.kubectl("logs", "deployment/paperclip", "-c", "check-adapters").catch(() => "");
      return log.includes("must not start") ? log : null;
    });
    expect(said).toMatch(/^\w+_local: \/opt\/\S+-gone-k8s cannot be loaded: ENOENT/m);
    const pods = JSON.parse(await deployed.kubectl("get", "pods", "-l", "app.kubernetes.io/component=server", "-o", "json")) as Pods;
    for (const { status } of pods.items) expect(status.containerStatuses?.[0]?.state).not.toHaveProperty("running");
  } finally {
    writeFileSync(notes, before);
    await deployed.kubectl("rollout", "restart", "deployment/paperclip");
    await deployed.kubectl("rollout", "status", "deployment/paperclip", "--timeout=300s");
  }
}

interface Pods {
  readonly items: readonly { readonly status: { readonly containerStatuses?: readonly { readonly state: object }[] } }[];
}
