import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { ClusterStage } from "../cluster/stage.ts";
import { call } from "../host/api.ts";
import { CLI, type PackedAdapters } from "../packages/install.ts";
import type { Stage } from "../stage.ts";

/** The operator's command line beside a try-out's server: a small script that sets what the command needs, to be called by copy and paste. */
export interface Operator {
  /** The script's path. */
  readonly command: string;
  /** Runs it here; its lines as they come. Ends with its exit code. */
  run(args: readonly string[], say: (line: string) => void): Promise<number | null>;
}

export function embeddedOperator({ host: { home, url }, cluster, namespace, policy }: Stage, packed: PackedAdapters): Operator {
  const kubeconfig = join(home.root, "kubeconfig");
  writeFileSync(kubeconfig, inNamespace(readFileSync(cluster.kubeconfig, "utf8"), namespace), { mode: 0o600 });
  const exports = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    PAPERCLIP_API_URL: url,
    KUBECONFIG: kubeconfig,
    PAPERCLIP_HOME: home.path,
    TMPDIR: home.tmp, // where the adapters' control sockets are
    PAPERCLIP_AGENT_JWT_SECRET: home.jwtSecret,
    ...(policy === null ? {} : { PAPERCLIP_K8S_POLICY: policy }),
  };
  const program = join(packed.folder, CLI, "dist/main.js");
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const script = join(home.root, CLI);
  const lines = [
    "#!/bin/sh",
    `# ${CLI} for this try-out: the server's address, cluster, data folder, secret and policy.`,
    ...Object.entries(exports).map(([name, value]) => `export ${name}=${quoted(value)}`),
    "# Root becomes the server's user, to whom its control socket belongs.",
    `[ "$(id -u)" = 0 ] && set -- setpriv --reuid=${uid} --regid=${gid} --clear-groups node ${quoted(program)} "$@" || set -- node ${quoted(program)} "$@"`,
    'exec "$@"',
  ];
  writeFileSync(script, `${lines.join("\n")}\n`, { mode: 0o700 });
  return { command: script, run: (args, say) => runLines(script, args, say) };
}

/** In the server's container, which has everything but a key: a server that trusts nobody releases nothing without one. */
export async function clusterOperator({ cluster, deployed, host }: ClusterStage): Promise<Operator & { remove(): void }> {
  const { token } = await call<{ token: string }>(host, "POST", "/board-api-keys", { name: "try-out" });
  const folder = mkdtempSync(join(tmpdir(), "try-"));
  const [script, key] = [join(folder, CLI), join(folder, "board-key")];
  writeFileSync(key, token, { mode: 0o600 });
  const inPod = `PAPERCLIP_API_KEY=$(cat); export PAPERCLIP_API_KEY; exec ${CLI} "$@"`;
  const kubectl = [cluster.kubectl, "--kubeconfig", cluster.kubeconfig, "-n", deployed.namespace].map(quoted).join(" ");
  const lines = [
    "#!/bin/sh",
    `# ${CLI} in the container of this try-out's server. The key goes there as input: arguments are in the request's URL and in audit logs.`,
    `exec ${kubectl} exec -i deploy/paperclip -c paperclip -- sh -c ${quoted(inPod)} ${CLI} "$@" < ${quoted(key)}`,
  ];
  writeFileSync(script, `${lines.join("\n")}\n`, { mode: 0o700 });
  const remove = () => rmSync(folder, { recursive: true, force: true });
  return { command: script, run: (args, say) => runLines(script, args, say), remove };
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** With the agents' namespace as the usual one, so that nobody has to name it. */
function inNamespace(kubeconfig: string, namespace: string): string {
  const config = JSON.parse(kubeconfig) as { contexts: { context: { namespace: string } }[] };
  for (const { context } of config.contexts) context.namespace = namespace;
  return JSON.stringify(config);
}

function runLines(program: string, args: readonly string[], say: (line: string) => void): Promise<number | null> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], detached: true }); // a Ctrl-C is for us
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", say);
  return new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
}
