import type { ExecPlugin } from "./kubeconfig.ts";

/** What a plugin has printed. */
export interface ExecCredential {
  readonly token: string | null;
  readonly cert: string | null;
  readonly key: string | null;
  /** Until when it may be used, by the wall's clock. */
  readonly until: number;
}

const MOST_BYTES = 1024 * 1024;
const MOST_ERROR_CHARS = 2000;
/** A plugin that waits for somebody to log in would be waited for by every request. */
const TIMEOUT_MS = 60_000;

/** Runs a credential plugin of a kubeconfig. What it prints is never part of an error: it may be a token. `cluster`: what a plugin that wants to know gets of it. */
export async function runExecPlugin(plugin: ExecPlugin, cluster: object): Promise<ExecCredential> {
  const { command, args, env } = plugin;
  if (!command) throw new Error("the credential plugin has no command");
  // Most servers need no plugin.
  const { execFile } = await import("node:child_process");
  const own = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
  const printed = await new Promise<string>((resolve, reject) => {
    const options = {
      env: { ...process.env, KUBERNETES_EXEC_INFO: JSON.stringify(execInfo(plugin, cluster)), ...own },
      maxBuffer: MOST_BYTES,
      encoding: "utf8",
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
    } as const;
    const child = execFile(command, [...(args ?? [])], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      // Its own words, if it has any: the message of Node quotes the command line.
      else
        reject(
          new Error(
            stderr.trim().slice(-MOST_ERROR_CHARS) ||
              `${command}: ${error.killed ? `no answer within ${TIMEOUT_MS / 1000} s` : (error.code ?? error.signal)}`,
          ),
        );
    });
    child.stdin?.end();
  });
  return credentialOf(printed);
}

/** As kubectl gives it; nobody is there to answer questions. */
function execInfo({ apiVersion = "client.authentication.k8s.io/v1", provideClusterInfo }: ExecPlugin, cluster: object): object {
  return { kind: "ExecCredential", apiVersion, spec: { ...(provideClusterInfo ? { cluster } : {}), interactive: false } };
}

function credentialOf(printed: string): ExecCredential {
  const { status } = (parsed(printed) ?? {}) as { readonly status?: Readonly<Record<string, unknown>> };
  if (typeof status !== "object" || status === null) throw new Error("the credential plugin has printed no credential");
  const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
  const end = text(status.expirationTimestamp);
  return {
    token: text(status.token),
    cert: text(status.clientCertificateData),
    key: text(status.clientKeyData),
    until: end === null ? Number.POSITIVE_INFINITY : Date.parse(end),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("the credential plugin's output is not JSON");
  }
}
