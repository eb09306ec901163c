import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ApiError } from "./api-error.ts";

export interface ConnectOptions {
  /** Path of a kubeconfig, or several of which the first one wins, as in the variable KUBECONFIG; null = the account of the pod this process runs in. */
  readonly kubeconfig: string | readonly string[] | null;
  /** Context of the kubeconfig; its current one unless set. */
  readonly context?: string;
}

/** A cluster of a kubeconfig, with the official client's names. */
export interface KubeCluster {
  readonly name: string;
  readonly server: string;
  readonly caFile?: string;
  readonly caData?: string;
  readonly skipTLSVerify: boolean;
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
}

/** A program that prints credentials. */
export interface ExecPlugin {
  readonly apiVersion?: string;
  readonly command?: string;
  /** Many tools write null where there are none. */
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  /** Whether it gets to know which cluster it is asked for. */
  readonly provideClusterInfo?: boolean;
}

/** As whom requests are made, by the headers of the API. */
export type Impersonation = Readonly<Record<string, string | string[]>>;

export interface KubeUser {
  readonly name: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly certFile?: string;
  readonly certData?: string;
  readonly keyFile?: string;
  readonly keyData?: string;
  readonly username?: string;
  readonly password?: string;
  readonly impersonation?: Impersonation;
  readonly exec?: ExecPlugin;
  readonly authProvider?: { readonly name?: string; readonly config?: Readonly<Record<string, unknown>> };
}

/** One context, with what it names. */
export interface KubeContext {
  /** Null = the account of a pod. */
  readonly name: string | null;
  readonly cluster: KubeCluster;
  readonly user: KubeUser;
  readonly namespace: string | null;
}

interface ContextEntry {
  readonly name: string;
  readonly cluster: string;
  readonly user?: string;
  readonly namespace?: string;
}

interface KubeFile {
  readonly clusters: readonly KubeCluster[];
  readonly users: readonly KubeUser[];
  readonly contexts: readonly ContextEntry[];
  readonly current: string;
}

export async function loadContext(options: ConnectOptions): Promise<KubeContext> {
  const { kubeconfig } = options;
  if (kubeconfig === null) return inCluster(process.env);
  const paths = typeof kubeconfig === "string" ? [kubeconfig] : kubeconfig;
  const file = merged(await Promise.all(paths.map(readKubeFile)));
  const name = options.context ?? file.current;
  const context = named(file.contexts, name);
  if (context === undefined) throw configError(`kubeconfig ${kubeconfig}: there is no context "${name}"`);
  const cluster = named(file.clusters, context.cluster);
  if (cluster === undefined || !URL.canParse(cluster.server))
    throw configError(`kubeconfig ${kubeconfig}: context "${name}" has no usable cluster`);
  return { name, cluster, user: named(file.users, context.user) ?? { name: "" }, namespace: context.namespace ?? null };
}

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The account that Kubernetes mounts into each pod; its token changes every hour or so. */
export async function inCluster(env: NodeJS.ProcessEnv, account = ACCOUNT): Promise<KubeContext> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = "443" } = env;
  if (!host) throw configError("this process does not run in a Kubernetes pod and no kubeconfig was given");
  const scheme = ["80", "8080", "8001"].includes(port) ? "http" : "https";
  const server = `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  if (!URL.canParse(server)) throw configError(`in-cluster configuration: ${server} is no address`);
  const namespace = await readFile(`${account}/namespace`, "utf8").catch(() => null);
  return {
    name: null,
    cluster: { name: "inCluster", server, caFile: `${account}/ca.crt`, skipTLSVerify: false },
    user: { name: "inClusterUser", tokenFile: `${account}/token` },
    namespace: namespace?.trim() || null,
  };
}

async function readKubeFile(path: string): Promise<KubeFile> {
  try {
    const text = await readFile(path, "utf8");
    const { load } = await import("js-yaml");
    return kubeFile(load(text) as Raw, dirname(path));
  } catch (error) {
    // The YAML parser's message quotes the file, tokens included: keep its reason and place only.
    const { code, reason, mark } = error as { code?: string; reason?: string; mark?: { line?: number } };
    const why = code ?? (reason ? `${reason}${mark?.line === undefined ? "" : ` (line ${mark.line + 1})`}` : "it is not a kubeconfig");
    throw configError(`kubeconfig ${path} cannot be loaded: ${why}`);
  }
}

/** As YAML has it. */
type Raw = { readonly [name: string]: unknown };

function kubeFile(raw: Raw, folder: string): KubeFile {
  const path = (value: unknown): string | undefined => (value ? resolve(folder, String(value)) : undefined);
  return {
    clusters: entries(raw.clusters, "cluster").map(([name, of]) => ({
      name,
      server: required(of.server).replace(/\/$/, ""),
      ...present({
        caFile: path(of["certificate-authority"]),
        caData: of["certificate-authority-data"],
        tlsServerName: of["tls-server-name"],
        proxyUrl: of["proxy-url"],
      }),
      skipTLSVerify: of["insecure-skip-tls-verify"] === true,
    })),
    users: entries(raw.users, "user").map(([name, of]) => ({
      name,
      ...present({
        token: of.token,
        tokenFile: path(of.tokenFile ?? of["token-file"] ?? (of["auth-provider"] as KubeUser["authProvider"])?.config?.tokenFile),
        certFile: path(of["client-certificate"]),
        certData: of["client-certificate-data"],
        keyFile: path(of["client-key"]),
        keyData: of["client-key-data"],
        username: of.username,
        password: of.password,
        impersonation: impersonation(of),
        exec: exec(of.exec, path),
        authProvider: of["auth-provider"],
      }),
    })),
    contexts: entries(raw.contexts, "context").map(([name, of]) => ({
      name,
      cluster: required(of.cluster),
      ...present({ user: of.user, namespace: of.namespace }),
    })),
    current: String(raw["current-context"] ?? ""),
  };
}

/** A command with a slash in it is a path, as those of files are; any other is looked for in PATH. */
function exec(of: unknown, path: (value: unknown) => string | undefined): ExecPlugin | undefined {
  if (typeof of !== "object" || of === null) return undefined;
  const { command } = of as ExecPlugin;
  return { ...of, ...(command?.includes("/") ? { command: path(command) } : {}) } as ExecPlugin;
}

function impersonation(of: Raw): Impersonation | undefined {
  const { as: user, "as-uid": uid, "as-groups": groups, "as-user-extra": extra } = of;
  if (!user) return undefined;
  const values = (list: unknown): string[] => (Array.isArray(list) ? list.map(String) : []);
  const extras = Object.entries((extra ?? {}) as Raw).map(([key, list]) => [`Impersonate-Extra-${encodeURIComponent(key)}`, values(list)]);
  return {
    "Impersonate-User": String(user),
    ...(uid ? { "Impersonate-Uid": String(uid) } : {}),
    ...(values(groups).length === 0 ? {} : { "Impersonate-Group": values(groups) }),
    ...Object.fromEntries(extras),
  };
}

function entries(list: unknown, key: string): (readonly [string, Raw])[] {
  if (!Array.isArray(list)) return [];
  return list.map((entry: Raw) => [required(entry.name), (entry[key] ?? {}) as Raw] as const);
}

function required(value: unknown): string {
  if (typeof value !== "string" || value === "") throw new Error("something is missing");
  return value;
}

/** Without what the file leaves out or leaves empty. */
const present = (fields: Raw): object => Object.fromEntries(Object.entries(fields).filter(([, value]) => Boolean(value)));

/** As kubectl merges them: of two entries with one name the first counts. */
function merged(parts: readonly KubeFile[]): KubeFile {
  return {
    clusters: parts.flatMap(({ clusters }) => clusters),
    users: parts.flatMap(({ users }) => users),
    contexts: parts.flatMap(({ contexts }) => contexts),
    current: parts.find(({ current }) => current !== "")?.current ?? "",
  };
}

const named = <T extends { readonly name: string }>(all: readonly T[], name: string | undefined): T | undefined =>
  all.find((each) => each.name === name);

const configError = (message: string) => new ApiError("api_config", message);
