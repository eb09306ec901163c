import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Permission, permissions } from "@paperclip-k8s/engine";
import { scriptedSettings } from "@paperclip-k8s/llm";
import { adapters, type CliName, cliNames, loadKits } from "../../packages/adapters.ts";
import type { Bed } from "../../testbed/suite/src/bed.ts";
import { type Host, settingsOf, startHost } from "../host.ts";
import type { HostApi } from "../host-api.ts";
import type { Comparison } from "../options.ts";
import { BENCH_COMPANY } from "../protocol.ts";
import { allowAnyPod, standForServer } from "./own-pod.ts";
import { SCRIPT_VARIABLE, standInImage } from "./stand-in-cli.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** One of the two adapters, in a server of its own. */
export interface Side {
  readonly name: "ours" | "other";
  readonly host: Pick<Host, "run" | "usage" | "resident" | "stop">;
}

/** What other adapters are known to ask for, besides what ours does. */
const MORE: readonly Pick<Permission, "group" | "resource" | "verb" | "scope">[] = [
  ...["get", "list", "watch", "create", "delete"].map((verb) => ["", "pods", verb] as const),
  ...["get", "list", "watch", "create", "update", "patch", "delete"].flatMap((verb) =>
    (["secrets", "configmaps", "persistentvolumeclaims"] as const).map((resource) => ["", resource, verb] as const),
  ),
  ...["get", "list", "watch", "create", "update", "patch", "delete"].map((verb) => ["batch", "jobs", verb] as const),
  ["", "pods/log", "get"] as const,
  ["", "events", "list"] as const,
].map(([group, resource, verb]) => ({ group, resource, verb, scope: "namespace" }) as Permission);

const OTHERS_CLAIM = "other";

/** Both get the same image, account, host and settings; the other one's own are put over them. */
export async function openSides({ entry, config, env, path }: Comparison, bed: Bed, api: HostApi): Promise<[Side, Side]> {
  const cli = cliOf(entry, env);
  execFileSync(process.execPath, [join(root, "scripts/build.ts")], { stdio: ["ignore", "ignore", "inherit"] });
  const own = join(root, "packages", adapters[cli].folder, "dist/index.js");
  const kits = await loadKits();
  const model = scriptedSettings(kits[cli].scriptedModel({ url: "http://127.0.0.1:9" }));
  const image = await standInImage(bed, cli);
  // A volume of its own: the folders that ours makes are closed to others.
  const data = await bed.addVolume(OTHERS_CLAIM);
  const kubeconfig = plainHttpAllowed(await bed.account([...permissions, ...MORE]));
  const settings = { ...settingsOf(bed), ...model, kubeconfig, image };
  const open = (name: Side["name"], path: string, change: Record<string, unknown>, more: Readonly<Record<string, string>>): Side => ({
    name,
    host: scripted(
      startHost(bed, { entry: path, env: { PAPERCLIP_LISTEN_PORT: String(api.port), ...more }, config: { ...settings, ...change } }),
      { ...(model.env as object), ...(change.env as object | undefined) },
      name === "other" ? data : null,
    ),
  });
  await allowAnyPod(bed);
  const pod = await standForServer(bed, { kubeconfig, image, claim: OTHERS_CLAIM });
  if (path !== null) symlinkSync(data, path);
  const ours = open("ours", own, {}, {});
  const other = open("other", entry, { dataClaim: OTHERS_CLAIM, dataPath: data, ...config }, { ...pod, ...env });
  const stop = (): void => {
    other.host.stop();
    if (path !== null) unlinkSync(path);
  };
  return [ours, { ...other, host: { ...other.host, stop } }];
}

/** Requests go through a proxy that counts them, without TLS; the official client refuses that unless its kubeconfig says so. */
function plainHttpAllowed(kubeconfig: string): string {
  const config = JSON.parse(readFileSync(kubeconfig, "utf8")) as { clusters: { cluster: Record<string, unknown> }[] };
  for (const { cluster } of config.clusters) cluster["insecure-skip-tls-verify"] = true;
  writeFileSync(kubeconfig, JSON.stringify(config));
  return kubeconfig;
}

/** The stand-in learns from a variable what it is to do. `data`: where the folder of the agent's logs is made, as the host does; ours does not need it. */
function scripted(host: Host, env: object, data: string | null): Side["host"] {
  return {
    ...host,
    run: (script, change) => {
      if (script.kind !== "flow") throw new Error(`the stand-in CLI has no ${script.kind}`);
      const { runId = `bench-${randomUUID()}`, agent = runId } = change ?? {};
      if (data !== null) makeLogFolder(data, agent);
      const config = { env: { ...env, [SCRIPT_VARIABLE]: `${script.lines} ${script.everyMs}` } };
      return host.run(script, { ...change, runId, agent, config });
    },
  };
}

/** Writable for the user of the pods, and so is each folder on the way. */
function makeLogFolder(data: string, agent: string): void {
  let folder = data;
  for (const name of ["instances", "default", "data", "run-logs", BENCH_COMPANY, agent]) {
    folder = join(folder, name);
    if (existsSync(folder)) continue;
    mkdirSync(folder);
    chmodSync(folder, 0o777);
  }
}

/** The entry is asked in a process of its own, so that nothing of it stays in this one. */
function cliOf(entry: string, env: Readonly<Record<string, string>>): CliName {
  const program = `const { createServerAdapter } = await import(process.argv[1]); console.log(createServerAdapter().type); process.exit(0);`;
  const args = ["--input-type=module", "-e", program, pathToFileURL(entry).href];
  const type = execFileSync(process.execPath, args, { encoding: "utf8", env: { ...process.env, ...env } }).trim();
  const cli = cliNames.find((name) => type === `${name}_k8s`);
  if (cli === undefined)
    throw new Error(`${entry} is an adapter of type ${type}; known are ${cliNames.map((name) => `${name}_k8s`).join(", ")}`);
  return cli;
}
