import { hkdfSync, randomBytes } from "node:crypto";
import { messageOf, withVolume } from "@paperclip-k8s/engine";
import { type InstancePlace, recordSecretFile } from "./paths.ts";

/** The server's variables that a secret for records can be derived from; the first one that is set counts. */
export const RECORD_SECRET_VARIABLES = ["PAPERCLIP_K8S_RECORD_SECRET", "PAPERCLIP_AGENT_JWT_SECRET", "BETTER_AUTH_SECRET"] as const;

const SECRET_BYTES = 32;
const TIMEOUT_MS = 10_000;

export interface RecordSecret {
  readonly bytes: Buffer;
  /** Why a server that comes after this one cannot check this one's records; null = it can. */
  readonly problem: string | null;
}

const made = new Map<string, Promise<RecordSecret>>();

/** From which the keys of this server's runs are derived: from its environment, else a file that is made once. */
export function recordSecret(env: NodeJS.ProcessEnv, place: InstancePlace): Promise<RecordSecret> {
  const bytes = fromVariables(env);
  if (bytes !== null) return Promise.resolve({ bytes, problem: null });
  const path = recordSecretFile(place);
  const known = made.get(path) ?? fromFile(place.dataPath, path);
  made.set(path, known);
  return known;
}

/** The same for a program beside the server, which makes nothing; null = it is not known here. */
export async function findRecordSecret(env: NodeJS.ProcessEnv, place: InstancePlace | null): Promise<Buffer | null> {
  const bytes = fromVariables(env);
  if (bytes !== null || place === null) return bytes;
  return keepSecret(place.dataPath, recordSecretFile(place), null).catch(() => null);
}

/** Each is used through a name of its own, so that nothing that it protects elsewhere can be learned from here. */
function fromVariables(env: NodeJS.ProcessEnv): Buffer | null {
  const name = RECORD_SECRET_VARIABLES.find((each) => (env[each] ?? "").trim() !== "");
  if (name === undefined) return null;
  return Buffer.from(hkdfSync("sha256", env[name] ?? "", "", `paperclip-k8s run records from ${name}`, SECRET_BYTES));
}

async function fromFile(root: string, path: string): Promise<RecordSecret> {
  const bytes = randomBytes(SECRET_BYTES);
  try {
    return { bytes: await keepSecret(root, path, bytes), problem: null };
  } catch (error) {
    const remedy = `set ${RECORD_SECRET_VARIABLES[0]} in the server's environment`;
    return { bytes, problem: `after a restart this server cannot check what its runs have recorded: ${messageOf(error)}; ${remedy}` };
  }
}

const keepSecret = (root: string, path: string, bytes: Buffer | null): Promise<Buffer> =>
  withVolume(root, async (volume) => Buffer.from(await volume.run("keepSecret", { path, bytes }, TIMEOUT_MS)));
