import { hash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { TEST_POLICY } from "@paperclip-k8s/paperclip/testing/test-policy";

/** Programs and files that a test puts on the volume for its agents: the policy of the bed lets every pod mount this folder. */
export function toolsFolder({ data }: { readonly data: string }): string {
  const folder = join(data, "tools");
  mkdirSync(folder, { recursive: true });
  // Pods may have another user than the test.
  chmodSync(folder, 0o777);
  return folder;
}

/** What the environment of a server on this volume says. `more`: further lines of the policy file. It lies beside the volume, so that it goes with the bed. */
export function bedPolicy(data: string, more = ""): Record<string, string> {
  const common = readFileSync(TEST_POLICY.PAPERCLIP_K8S_POLICY, "utf8");
  const volume = more.includes("volume:") ? "" : `volume: { paths: [{ path: ${JSON.stringify(join(data, "tools"))}, readOnly: false }] }\n`;
  const text = `${common}\n${volume}${more}\n`;
  const path = join(dirname(data), `policy-${hash("sha256", text).slice(0, 12)}.yaml`);
  // A server may be reading it at this moment.
  if (!existsSync(path)) {
    writeFileSync(`${path}.part`, text);
    renameSync(`${path}.part`, path);
  }
  return { PAPERCLIP_K8S_POLICY: path };
}
