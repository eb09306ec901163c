import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Pocket, startPocket } from "@paperclip-k8s/pocket";

const NAMESPACE = "agents";
const BIN = join(fileURLToPath(new URL("../../..", import.meta.url)), "node_modules/.bin");

/** A cluster with a namespace, an agent image and a shared volume: what every test of the suite starts from. */
export interface Bed {
  readonly cluster: Pocket;
  readonly namespace: string;
  readonly kubeconfig: string;
  /** The shared volume: claim `data`, mounted at the same path in server and pods. */
  readonly data: string;
  /** Another shared volume with a claim of its own name. */
  addVolume(claim: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startBed(options: Parameters<typeof startPocket>[0] = {}): Promise<Bed> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "bed-")));
  const path = [BIN, dirname(process.execPath), ...(process.env.PATH ?? "").split(delimiter)];
  const cluster = await startPocket({ images: { "agent:1": { path } }, ...options });
  await cluster.createNamespace(NAMESPACE);
  const addVolume = async (claim: string) => {
    const folder = await mkdtemp(join(root, `${claim}-`));
    await cluster.createClaim(NAMESPACE, claim, folder);
    return folder;
  };
  const data = await addVolume("data");
  return {
    cluster,
    namespace: NAMESPACE,
    kubeconfig: cluster.kubeconfig,
    data,
    addVolume,
    stop: async () => {
      await cluster.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}
