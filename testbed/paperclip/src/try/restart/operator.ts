import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { CLI, type PackedAdapters } from "../../packages/install.ts";
import type { Stage } from "../../stage.ts";

/** The operator's command line beside a try-out's server. */
export interface Operator {
  /** How a person calls it in another terminal. */
  readonly command: string;
  /** Runs it here; its lines as they come. Ends with its exit code. */
  run(args: readonly string[], say: (line: string) => void, stopped?: AbortSignal): Promise<number | null>;
}

/** A small script that sets what the command needs, as the server's container has it: so that a person can call it by copy and paste. */
export function embeddedOperator({ host: { home, url }, cluster, namespace }: Stage, packed: PackedAdapters): Operator {
  const kubeconfig = join(home.root, "kubeconfig");
  writeFileSync(kubeconfig, inNamespace(readFileSync(cluster.kubeconfig, "utf8"), namespace), { mode: 0o600 });
  const exports = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    PAPERCLIP_API_URL: url,
    KUBECONFIG: kubeconfig,
    PAPERCLIP_HOME: home.path,
    TMPDIR: home.tmp, // where the adapters' control sockets are
    PAPERCLIP_AGENT_JWT_SECRET: home.jwtSecret,
  };
  const program = join(packed.folder, CLI, "dist/main.js");
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const script = join(home.root, CLI);
  const lines = [
    "#!/bin/sh",
    `# ${CLI} for this try-out: the server's address, cluster, data folder and secret.`,
    ...Object.entries(exports).map(([name, value]) => `export ${name}=${quoted(value)}`),
    "# Root becomes the server's user, to whom its control socket belongs.",
    `[ "$(id -u)" = 0 ] && set -- setpriv --reuid=${uid} --regid=${gid} --clear-groups node ${quoted(program)} "$@" || set -- node ${quoted(program)} "$@"`,
    'exec "$@"',
  ];
  writeFileSync(script, `${lines.join("\n")}\n`, { mode: 0o700 });
  return { command: script, run: (args, say, stopped) => runLines(script, args, say, stopped) };
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** With the agents' namespace as the usual one, so that nobody has to name it. */
function inNamespace(kubeconfig: string, namespace: string): string {
  const config = JSON.parse(kubeconfig) as { contexts: { context: { namespace: string } }[] };
  for (const { context } of config.contexts) context.namespace = namespace;
  return JSON.stringify(config);
}

function runLines(program: string, args: readonly string[], say: (line: string) => void, stopped?: AbortSignal): Promise<number | null> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], detached: true }); // a Ctrl-C is for us
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", say);
  const end = () => child.kill("SIGTERM");
  stopped?.addEventListener("abort", end);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      stopped?.removeEventListener("abort", end);
      resolve(code);
    });
  });
}
