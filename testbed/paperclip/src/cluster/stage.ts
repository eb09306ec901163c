import { randomBytes } from "node:crypto";
import { type KubeCluster, openCluster } from "@paperclip-k8s/kube";
import { type Llm, startLlm } from "@paperclip-k8s/llm";
import { type AdapterType, KINDS, plainEnv, providersFor } from "../agent-kinds.ts";
import { Closers } from "../closers.ts";
import { adaptersOf } from "../host/adapters.ts";
import type { HostAddress } from "../host/api.ts";
import { Company } from "../host/company.ts";
import type { PackedAdapters } from "../packages/install.ts";
import { freePorts } from "../server/home.ts";
import type { AnyStage, StageOptions } from "../stage.ts";
import { type Deployed, deploy } from "./deployed.ts";
import { becomeFirstAdmin } from "./first-admin.ts";
import { forward } from "./forward.ts";
import { type Images, loadImages, PACKAGES } from "./image.ts";

/** The host inside the real cluster, from deploy/: what agents need it takes from its own pod. */
export interface ClusterStage extends AnyStage {
  readonly cluster: KubeCluster;
  readonly deployed: Deployed;
  readonly images: Images;
  /** Ends what runs on this machine and leaves the server in the cluster. */
  leave(): Promise<void>;
}

export interface ClusterStageOptions extends StageOptions {
  /** The server has the agents' CLIs, as one that ran its agents itself so far. */
  readonly serverHasClis?: boolean;
}

export async function openClusterStage(packed: PackedAdapters, options: ClusterStageOptions): Promise<ClusterStage> {
  const say = options.say ?? (() => {});
  const opened = new Closers();
  try {
    const cluster = openCluster();
    opened.add(() => cluster.close());
    const images = await loadImages(cluster, options.version, packed, say, options.serverHasClis);
    const llm = opened.keep(await startLlm({ host: cluster.hostAddress, ...(options.script && { script: options.script }) }));
    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const deployed = await deploy(
      cluster,
      {
        namespace: `paperclip-${randomBytes(3).toString("hex")}`,
        images,
        serviceAddress: `10.96.${128 + (randomBytes(1)[0]! % 128)}.${1 + (randomBytes(1)[0]! % 254)}`,
        origin: url,
        providers: providersFor(llm, options.priceFactor),
      },
      say,
    );
    let leaving = false;
    opened.add(() => (leaving ? undefined : deployed.remove()));
    opened.keep(await forward(cluster, deployed.namespace, port!));
    const admin = await becomeFirstAdmin(url);
    if (!options.builtIn) await installAdapters([...packed.inPlace, ...packed.names], admin.host);
    const company = await Company.open(admin.host, options.companyName ?? "Testbed");
    const jobs = async () => (await deployed.agents("get", "jobs", "-o", "name")).split("\n").filter((line) => line !== "");
    const leave = async () => {
      leaving = true;
      await deployed.keep();
      await opened.close();
    };
    return {
      cluster,
      deployed,
      images,
      host: admin.host,
      signIn: admin,
      llm,
      company,
      jobs,
      config: agentConfig(llm),
      stop: opened.close,
      leave,
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Nothing of the cluster: image and namespace come from the policy; volume, keys, node settings and user are the server's own. */
const agentConfig = (llm: Llm) => (type: AdapterType) => {
  const { model, offline } = KINDS[type].scripted(llm);
  return {
    model,
    graceSec: 5,
    // Small, so that many run at once on a small machine.
    resources: { requests: { cpu: "120m", memory: "128Mi" } },
    env: plainEnv(offline),
  };
};

/** By local path, from the image: nobody has registered their names. */
export async function installAdapters(names: readonly string[], host: HostAddress): Promise<void> {
  for (const name of names) await adaptersOf(host).install(`${PACKAGES}/${name}`);
}
