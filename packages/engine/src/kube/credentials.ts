import type { RequestOptions } from "node:https";
import type { Cluster, KubeConfig } from "@kubernetes/client-node";
import { ApiError } from "./api-error.ts";

export interface ConnectOptions {
  /** Path of a kubeconfig, or several of which the first one wins, as in the variable KUBECONFIG; null = the account of the pod this process runs in. */
  readonly kubeconfig: string | readonly string[] | null;
  /** Context of the kubeconfig; its current one unless set. */
  readonly context?: string;
}

const renewEveryMs = 10_000;

/** Server, TLS and authentication of one context, loaded by the official client; it is imported here, on first use, and nowhere else. */
export class Credentials {
  readonly server: URL;
  /** Proxies need the client's own agent. */
  readonly proxied: boolean;
  readonly #options: ConnectOptions;
  #config: KubeConfig;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #renewing: Promise<void> = Promise.resolve();
  /** Changes with each renewal. */
  generation = 0;
  #pending: Promise<RequestOptions> | null = null;

  private constructor(options: ConnectOptions, config: KubeConfig) {
    this.#options = options;
    this.#config = config;
    const cluster = config.getCurrentCluster()!;
    this.server = new URL(cluster.server);
    this.proxied = Boolean(cluster.proxyUrl);
  }

  static async load(options: ConnectOptions): Promise<Credentials> {
    const config = await loadConfig(options);
    warnOnce(openToOthers(config.getCurrentCluster()!));
    return new Credentials(options, config);
  }

  /** Options of one request, token included. Requests that ask at the same time share one call of an exec plugin. */
  requestOptions(): Promise<RequestOptions> {
    this.#pending ??= this.#apply().finally(() => {
      this.#pending = null;
    });
    return this.#pending;
  }

  /**
   * Drops what the client has cached, after a 401: a rotated token or a new kubeconfig counts at once.
   * `seen` is the generation that got the 401. False: there is no newer one now.
   */
  async renew(seen: number): Promise<boolean> {
    if (this.generation === seen && performance.now() - this.#renewedAt >= renewEveryMs) {
      this.#renewedAt = performance.now();
      this.#renewing = loadConfig(this.#options).then((config) => {
        this.#config = config;
        this.#pending = null;
        this.generation++;
      });
    }
    // Requests that got a 401 at the same time wait for the same renewal.
    await this.#renewing;
    return this.generation !== seen;
  }

  async #apply(): Promise<RequestOptions> {
    const options: RequestOptions & { headers: Record<string, string> } = { headers: {} };
    try {
      await this.#config.applyToHTTPSOptions(options);
    } catch (error) {
      // A parser's message quotes the plugin's output, which is a token.
      const cause = error instanceof SyntaxError ? new Error("the credential plugin's output is not JSON") : (error as Error);
      throw new ApiError("api_auth", `no credentials for ${this.server.host}: ${cause?.message ?? cause}`, { cause });
    }
    // Token files may end in a newline, which no header can hold.
    const token = options.headers.Authorization;
    if (token !== undefined) options.headers.Authorization = token.trim();
    return options;
  }
}

/** Why others on the way could read the credentials; null = they cannot. This machine's own addresses have no way. */
export function openToOthers({ server, skipTLSVerify }: Pick<Cluster, "server" | "skipTLSVerify">): string | null {
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
  const config = await loadConfig(options);
  return config.getContextObject(config.getCurrentContext())?.namespace ?? null;
}

async function loadConfig(options: ConnectOptions): Promise<KubeConfig> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  if (options.kubeconfig === null) {
    if (!process.env.KUBERNETES_SERVICE_HOST)
      throw configError("this process does not run in a Kubernetes pod and no kubeconfig was given");
    config.loadFromCluster();
  } else if (typeof options.kubeconfig === "string") loadFile(config, options.kubeconfig);
  else config.loadFromOptions(merged(options.kubeconfig.map((path) => loadFile(new KubeConfig(), path))));
  const name = options.context ?? config.getCurrentContext();
  if (!config.getContextObject(name)) throw configError(`${sourceOf(options)}: there is no context "${name}"`);
  config.setCurrentContext(name);
  const cluster = config.getCurrentCluster();
  if (!cluster || !URL.canParse(cluster.server)) throw configError(`${sourceOf(options)}: context "${name}" has no usable cluster`);
  // The client refuses plain http unless configured not to verify TLS; there is none to verify.
  if (cluster.server.startsWith("http:")) (cluster as { skipTLSVerify: boolean }).skipTLSVerify = true;
  return config;
}

/** As kubectl merges them: of two entries with one name the first counts. */
function merged(parts: readonly KubeConfig[]): object {
  const firsts = <T extends { readonly name: string }>(all: readonly T[]) =>
    all.filter(({ name }, at) => all.findIndex((other) => other.name === name) === at);
  return {
    clusters: firsts(parts.flatMap(({ clusters }) => clusters)),
    users: firsts(parts.flatMap(({ users }) => users)),
    contexts: firsts(parts.flatMap(({ contexts }) => contexts)),
    currentContext: parts.find(({ currentContext }) => currentContext)?.currentContext ?? "",
  };
}

function loadFile(config: KubeConfig, path: string): KubeConfig {
  try {
    config.loadFromFile(path);
    return config;
  } catch (error) {
    // The YAML parser's message quotes the file, tokens included: keep its reason and place only.
    const { code, reason, mark } = error as { code?: string; reason?: string; mark?: { line?: number } };
    const why = code ?? (reason ? `${reason}${mark?.line === undefined ? "" : ` (line ${mark.line + 1})`}` : "it is not a kubeconfig");
    throw configError(`kubeconfig ${path} cannot be loaded: ${why}`);
  }
}

const configError = (message: string) => new ApiError("api_config", message);
const sourceOf = (options: ConnectOptions) =>
  options.kubeconfig === null ? "in-cluster configuration" : `kubeconfig ${options.kubeconfig}`;
