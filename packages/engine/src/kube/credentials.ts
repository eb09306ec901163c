import type { RequestOptions } from "node:https";
import { ApiError } from "./api-error.ts";
import { type ExecCredential, runExecPlugin } from "./exec-plugin.ts";
import { KeptFiles } from "./kept-files.ts";
import { type ConnectOptions, type KubeCluster, type KubeContext, loadContext } from "./kubeconfig.ts";

export type { ConnectOptions } from "./kubeconfig.ts";

const renewEveryMs = 10_000;

type Options = RequestOptions & { headers: Record<string, string | string[]> };

/** Server, TLS and authentication of one context. */
export class Credentials {
  readonly server: URL;
  /** Proxies need the client's own agent. */
  readonly proxied: boolean;
  readonly #options: ConnectOptions;
  #source: Source;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #renewing: Promise<void> = Promise.resolve();
  /** Changes with each renewal. */
  generation = 0;
  #pending: Promise<RequestOptions> | null = null;

  private constructor(options: ConnectOptions, { name, cluster }: KubeContext, source: Source) {
    // A kubeconfig whose current context is another one later still has this one.
    this.#options = name === null ? options : { ...options, context: name };
    this.#source = source;
    this.server = new URL(cluster.server);
    this.proxied = Boolean(cluster.proxyUrl);
  }

  static async load(options: ConnectOptions): Promise<Credentials> {
    const context = await loadContext(options);
    warnOnce(openToOthers(context.cluster));
    return new Credentials(options, context, await sourceOf(context));
  }

  /** Options of one request, token included. Requests that ask at the same time share one call of an exec plugin. */
  requestOptions(): Promise<RequestOptions> {
    this.#pending ??= this.#apply().finally(() => {
      this.#pending = null;
    });
    return this.#pending;
  }

  /**
   * Drops what is remembered, after a 401: a rotated token or a new kubeconfig counts at once.
   * `seen` is the generation that got the 401. False: there is no newer one now.
   */
  async renew(seen: number): Promise<boolean> {
    if (this.generation === seen && performance.now() - this.#renewedAt >= renewEveryMs) {
      this.#renewedAt = performance.now();
      this.#renewing = this.#reload();
    }
    // Requests that got a 401 at the same time wait for the same renewal.
    await this.#renewing;
    return this.generation !== seen;
  }

  async #reload(): Promise<void> {
    const context = await loadContext(this.#options);
    // Credentials of another cluster are not for this one.
    if (new URL(context.cluster.server).href !== this.server.href) return;
    this.#source = await sourceOf(context);
    this.#pending = null;
    this.generation++;
  }

  async #apply(): Promise<RequestOptions> {
    const options: Options = { headers: {} };
    try {
      await this.#source(options);
    } catch (error) {
      // A parser's message quotes the plugin's output, which is a token.
      const cause = error instanceof SyntaxError ? new Error("the credential plugin's output is not JSON") : (error as Error);
      throw new ApiError("api_auth", `no credentials for ${this.server.host}: ${cause?.message ?? cause}`, { cause });
    }
    // Token files may end in a newline, which no header can hold.
    const token = options.headers.Authorization;
    if (typeof token === "string") options.headers.Authorization = token.trim();
    return options;
  }
}

/** Puts what a request needs into its options. */
type Source = (options: Options) => Promise<void>;

/** The official client knows proxies and the authentication of some clouds; its 0.1 s of loading, during which the server can do nothing else, is for who has those. */
async function sourceOf(context: KubeContext): Promise<Source> {
  const { cluster, user } = context;
  if (cluster.proxyUrl === undefined && (user.authProvider === undefined || user.tokenFile !== undefined)) return ownSource(context);
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  // The client refuses plain http unless configured not to verify TLS; there is none to verify.
  const skipTLSVerify = cluster.skipTLSVerify || cluster.server.startsWith("http:");
  // It knows files of tokens by this name only.
  const { tokenFile } = user;
  const own = tokenFile === undefined ? user : { ...user, authProvider: { name: "tokenFile", config: { tokenFile } } };
  config.loadFromClusterAndUser({ ...cluster, skipTLSVerify }, own as Parameters<typeof config.loadFromClusterAndUser>[1]);
  return async (options) => {
    await config.applyToHTTPSOptions(options);
    Object.assign(options.headers, user.impersonation);
  };
}

function ownSource({ cluster, user }: KubeContext): Source {
  const files = new KeptFiles();
  const bytes = async (file: string | undefined, data: string | undefined): Promise<Buffer | undefined> =>
    file !== undefined ? await files.read(file) : data === undefined ? undefined : Buffer.from(data, "base64");
  let credential: ExecCredential | null = null;
  return async (options) => {
    if (cluster.skipTLSVerify) options.rejectUnauthorized = false;
    if (cluster.tlsServerName !== undefined) options.servername = cluster.tlsServerName;
    const [ca, cert, key, token] = await Promise.all([
      bytes(cluster.caFile, cluster.caData),
      bytes(user.certFile, user.certData),
      bytes(user.keyFile, user.keyData),
      user.tokenFile === undefined ? user.token : files.read(user.tokenFile).then(String),
    ]);
    if (user.exec !== undefined && !(credential !== null && credential.until > Date.now()))
      credential = await runExecPlugin(user.exec, clusterInfo(cluster, ca));
    Object.assign(options, given({ ca, cert: credential?.cert ?? cert, key: credential?.key ?? key }));
    const bearer = token ?? credential?.token;
    if (bearer) options.headers.Authorization = `Bearer ${bearer}`;
    if (user.username !== undefined) options.auth = `${user.username}:${user.password ?? ""}`;
    Object.assign(options.headers, user.impersonation);
  };
}

/** With the API's names. */
const clusterInfo = ({ server, skipTLSVerify, tlsServerName }: KubeCluster, ca: Buffer | undefined): object =>
  given({
    server,
    "tls-server-name": tlsServerName,
    "insecure-skip-tls-verify": skipTLSVerify || undefined,
    "certificate-authority-data": ca?.toString("base64"),
  });

const given = (fields: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Why others on the way could read the credentials; null = they cannot. This machine's own addresses have no way. */
export function openToOthers({ server, skipTLSVerify }: Pick<KubeCluster, "server" | "skipTLSVerify">): string | null {
  const { protocol, host, hostname } = new URL(server);
  if (/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)) return null;
  const remedy = "give the kubeconfig an https address with its certificate authority";
  if (protocol === "http:") return `credentials go to the API server ${host} in clear text: ${remedy}`;
  return skipTLSVerify ? `who answers as the API server ${host} is not verified (insecure-skip-tls-verify): ${remedy}` : null;
}

const warned = new Set<string>();

/** To the server's own log, where an operator looks. */
function warnOnce(text: string | null): void {
  if (text === null || warned.has(text)) return;
  warned.add(text);
  process.emitWarning(text);
}

/** The namespace that a context of the kubeconfig is about; null = it names none. */
export async function contextNamespace(options: ConnectOptions): Promise<string | null> {
  return (await loadContext(options)).namespace;
}
