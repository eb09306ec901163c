import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type Llm, type LlmOptions, scriptedSettings, startLlm } from "@paperclip-k8s/llm";
import { type Pocket, startPocket } from "@paperclip-k8s/pocket";
import { type AdapterType, KINDS, plainEnv, providersFor } from "./agent-kinds.ts";
import { Closers } from "./closers.ts";
import { adaptersOf } from "./host/adapters.ts";
import type { HostAddress } from "./host/api.ts";
import { Company } from "./host/company.ts";
import { type PackedAdapters, pathsOf } from "./packages/install.ts";
import { ROOT } from "./server/release.ts";
import { type Paperclip, type PaperclipOptions, startPaperclip } from "./server/server.ts";
import { serverUser } from "./server/user.ts";
import { POD_IDENTITY, standForServer } from "./server-pod.ts";

const NAMESPACE = "agents";
/** Programs that the agents of the testbed have besides their CLI. */
export const PROGRAMS: string = join(ROOT, "testbed/paperclip/image");

/** A real host with our adapters, a cluster, a scripted model and a company, wherever the host is. */
export interface AnyStage {
  readonly host: HostAddress;
  /** Needed by a person at a host that trusts nobody. */
  readonly signIn?: { readonly email: string; readonly password: string };
  readonly llm: Llm;
  readonly company: Company;
  /** Names of the Jobs that are there now. */
  jobs(): Promise<string[]>;
  /** adapterConfig of an agent that runs the real CLI against the scripted model. */
  config(type: AdapterType): Readonly<Record<string, unknown>>;
  stop(): Promise<void>;
}

/** The host beside an embedded cluster, on a folder that both share. */
export interface Stage extends AnyStage {
  readonly host: Paperclip;
  readonly cluster: Pocket;
  readonly namespace: string;
  /** The policy file, unless it is the test bed's usual one. */
  readonly policy: string | null;
}

export interface StageOptions extends PaperclipOptions {
  /** Agents of the built-in types: their settings name no cluster, so the policy does, and the server has the CLIs that the built-in adapters start. No adapter is installed yet. */
  readonly builtIn?: boolean;
  /** As in a cluster: a pod stands for the server's own, and the model's address and key are in the server's environment, from which all agents inherit them. */
  readonly asInCluster?: boolean;
  /** 1 = what models cost in life; more where a short run has to cost a cent. */
  readonly priceFactor?: number;
  readonly companyName?: string;
  /** What the agents' model does before it looks for the usual words. */
  readonly script?: LlmOptions["script"];
}

export async function openStage(packed: Pick<PackedAdapters, "folder" | "names">, options: StageOptions): Promise<Stage> {
  if (serverUser() !== null) throw new Error("The cluster's pods would run as root and the server would not: call dropRoot() first");
  const opened = new Closers();
  try {
    const path = [
      PROGRAMS,
      join(ROOT, "node_modules/.bin"),
      dirname(realpathSync(process.execPath)),
      ...(process.env.PATH ?? "").split(delimiter),
    ];
    const cluster = opened.keep(await startPocket({ images: { "agent:1": { path } } }));
    const llm = opened.keep(await startLlm(options.script && { script: options.script }));
    const policy = options.builtIn ? opened.keep(defaultsPolicy(cluster)) : null;
    const providers = options.asInCluster ? providersFor(llm, options.priceFactor) : null;
    const env: Record<string, string> = {
      ...(policy && { PAPERCLIP_K8S_POLICY: policy.file, PATH: path.join(delimiter) }),
      ...(providers && { ...providers, ...POD_IDENTITY(NAMESPACE) }),
    };
    const host = opened.keep(await startPaperclip({ ...options, env: { ...env, ...options.env } }));
    cluster.createNamespace(NAMESPACE);
    cluster.createClaim(NAMESPACE, "data", host.home.path);
    if (providers)
      await standForServer(cluster, { namespace: NAMESPACE, image: "agent:1", claim: "data", dataPath: host.home.path, env: providers });
    for (const folder of options.builtIn ? [] : pathsOf(packed)) await adaptersOf(host).install(folder);
    const company = await Company.open(host, options.companyName ?? "Testbed");
    const jobs = async () => cluster.list("jobs", NAMESPACE).map(({ metadata }) => metadata.name ?? "");
    const parts = { host, cluster, namespace: NAMESPACE, policy: policy?.file ?? null, llm, company };
    return { ...parts, jobs, config: agentConfig(cluster, llm), stop: opened.close };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** A policy with what Kubernetes needs, for agents whose form does not ask for it. */
function defaultsPolicy(cluster: Pocket): { readonly file: string; stop(): Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), "policy-"));
  const file = join(folder, "policy.yaml");
  const defaults = { kubeconfig: cluster.kubeconfig, namespace: NAMESPACE, image: "agent:1", dataClaim: "data" };
  writeFileSync(file, JSON.stringify({ defaults, allow: { namespaces: ["*"], claims: ["*"] } }));
  return { file, stop: async () => rmSync(folder, { recursive: true, force: true }) };
}

/** Settings of an agent of a built-in type, as the host's own form saves them; without a key where the server's environment has it. */
export function builtInConfig(llm: Llm, type: AdapterType, keyIn: "agent" | "server" = "agent"): Readonly<Record<string, unknown>> {
  const scripted = KINDS[type].scripted(llm);
  const { model } = scripted;
  const env = keyIn === "agent" ? scriptedSettings(scripted).env : scripted.offline;
  return { model, graceSec: 15, env: plainEnv(env), dangerouslySkipPermissions: true };
}

/** `dataPath` is left out: it must follow from the server's own PAPERCLIP_HOME. */
const agentConfig = (cluster: Pocket, llm: Llm) => (type: AdapterType) => {
  const { model, env } = scriptedSettings(KINDS[type].scripted(llm));
  return {
    kubeconfig: cluster.kubeconfig,
    namespace: NAMESPACE,
    image: "agent:1",
    dataClaim: "data",
    graceSec: 5,
    model,
    env: plainEnv(env),
  };
};
