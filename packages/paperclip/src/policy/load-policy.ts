import { messageOf } from "@paperclip-k8s/engine";
import { isBelow } from "../host/context-values.ts";
import { homeOf } from "../host/paths.ts";
import { ConfigError } from "../settings/config-error.ts";
import { type ParsedPolicy, parsePolicy } from "./parse-policy.ts";
import { DEFAULT_POLICY, type Policy } from "./policy.ts";
import { readPolicyText, realMount, realPath, versionOf } from "./policy-file.ts";

/** The server's variable that names the file. */
export const POLICY_VARIABLE = "PAPERCLIP_K8S_POLICY";

interface Known {
  readonly version: string;
  readonly policy: Policy;
}
const known = new Map<string, Known>();

/** The policy in force now. A file that cannot be used is an error, and no run starts: the defaults may allow more than the operator wants. */
export async function loadPolicy(serverEnv: NodeJS.ProcessEnv): Promise<Policy> {
  const path = serverEnv[POLICY_VARIABLE]?.trim();
  if (!path) return DEFAULT_POLICY;
  try {
    const version = await versionOf(path);
    const before = known.get(path);
    if (before?.version === version) return before.policy;
    const { policy, problems } = await readPolicy(path, serverEnv);
    if (problems.length > 0) throw new Error(problems.join("; "));
    known.set(path, { version, policy });
    return policy;
  } catch (error) {
    known.delete(path);
    throw unusable(path, reasonOf(error));
  }
}

export const unusable = (path: string, reason: string): ConfigError =>
  new ConfigError(POLICY_VARIABLE, `the operator's policy ${path} cannot be used, so no run is started: ${reason}`);

/** What a file says, and everything that is wrong with it. Rejects where it cannot be read, or is not YAML. */
export async function readPolicy(path: string, serverEnv: NodeJS.ProcessEnv): Promise<ParsedPolicy> {
  const text = await readPolicyText(path);
  const { CORE_SCHEMA, load } = await import("js-yaml");
  const { policy, problems } = parsePolicy(load(text, { schema: CORE_SCHEMA }), path);
  const shared = await sharedPlace(path, [homeOf(serverEnv), policy.defaults.dataPath ?? homeOf(serverEnv)]);
  return { policy, problems: [...problems, ...(shared === null ? [] : [shared])] };
}

/** Why the file's place cannot be used: on the shared volume agents could write a policy of their own. Null = it can. */
async function sharedPlace(path: string, mounts: readonly string[]): Promise<string | null> {
  const place = (await realPath(path)) ?? path;
  const shared = [...mounts, ...(await Promise.all(mounts.map((mount) => realMount(mount))))].find(
    (mount) => isBelow(place, mount) || isBelow(path, mount),
  );
  return shared === undefined ? null : `it lies below ${shared}, where agents can write: mount it elsewhere, from a ConfigMap`;
}

/** The YAML parser's message is long and quotes the file: its reason and place are enough. */
export function reasonOf(error: unknown): string {
  const { code, reason, mark } = error as { code?: string; reason?: string; mark?: { line?: number } };
  if (typeof reason === "string") return `${reason}${mark?.line === undefined ? "" : ` (line ${mark.line + 1})`}`;
  if (code === "ENOENT") return "there is no such file";
  return code === "EACCES" ? "the server may not read it" : messageOf(error);
}
