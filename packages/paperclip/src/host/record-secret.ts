import { hkdfSync, randomBytes } from "node:crypto";
import { messageOf, withVolume } from "@paperclip-k8s/engine";
import { type InstancePlace, recordSecretFile } from "./paths.ts";
import { UnusableVolume } from "./unusable-volume.ts";

/** The server's variables that a secret for records can be derived from; the first one that is set counts. */
const RECORD_SECRET_VARIABLES = ["PAPERCLIP_K8S_RECORD_SECRET", "PAPERCLIP_AGENT_JWT_SECRET", "BETTER_AUTH_SECRET"] as const;

const SECRET_BYTES = 32;
const TIMEOUT_MS = 10_000;

const made = new Map<string, Buffer>();

/**
 * The secret from which the keys of this server's runs are derived: from its environment, else from a file that is made once. Without either
 * no run starts, because no later server could check its records or restore its session.
 */
export async function recordSecret(env: NodeJS.ProcessEnv, place: InstancePlace): Promise<Buffer> {
  const path = recordSecretFile(place);
  const known = fromVariables(env) ?? made.get(path) ?? null;
  if (known !== null) return known;
  const bytes = await fromFile(place.dataPath, path);
  made.set(path, bytes);
  return bytes;
}

/** The same for a program beside the server, such as the operator's command line. It makes no file; null = the secret is not known here. */
export async function findRecordSecret(env: NodeJS.ProcessEnv, place: InstancePlace | null): Promise<Buffer | null> {
  const bytes = fromVariables(env);
  if (bytes !== null || place === null) return bytes;
  return keepSecret(place.dataPath, recordSecretFile(place), null).catch(() => null);
}

/** The variable's value goes through a key derivation with a label of its own, so that keys of runs reveal nothing about the host's own use of it. */
function fromVariables(env: NodeJS.ProcessEnv): Buffer | null {
  const name = RECORD_SECRET_VARIABLES.find((each) => (env[each] ?? "").trim() !== "");
  if (name === undefined) return null;
  return Buffer.from(hkdfSync("sha256", env[name] ?? "", "", `paperclip-k8s run records from ${name}`, SECRET_BYTES));
}

async function fromFile(root: string, path: string): Promise<Buffer> {
  try {
    return await keepSecret(root, path, randomBytes(SECRET_BYTES));
  } catch (error) {
    const remedy = `make it writable for the server, or set ${RECORD_SECRET_VARIABLES[0]} in the server's environment`;
    throw new UnusableVolume(`the secret that signs the records of runs cannot be kept in ${path}: ${messageOf(error)}; ${remedy}`, {
      cause: error,
    });
  }
}

const keepSecret = (root: string, path: string, bytes: Buffer | null): Promise<Buffer> =>
  withVolume(root, async (volume) => Buffer.from(await volume.run("keepSecret", { path, bytes }, TIMEOUT_MS)));
