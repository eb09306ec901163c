// Connects to the relay's target; directly, whatever proxy is set for the pod.
import { connect as connectTcp, isIP, type Socket } from "node:net";
import type { SecureContext } from "node:tls";
import { readOrNull } from "../files.ts";
import type { Target } from "./target.ts";

/** Before the connection stands nothing of a request has been sent, so these may be tried again. */
const PASSING = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "ETIMEDOUT", "EPIPE", "EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN"],
  ...["ENOTFOUND", "EAI_AGAIN", "ENODATA", "ESERVFAIL"],
]);
/** Where images keep the certificates that tools such as curl trust. */
const SYSTEM_CERTIFICATES = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

export class ConnectError extends Error {
  readonly passing: boolean;

  constructor(error: unknown) {
    const { code, errors } = (error ?? {}) as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] };
    const name = code ?? errors?.[0]?.code ?? "unknown error";
    super(`cannot connect (${name})`);
    this.passing = PASSING.has(name);
  }
}

/** Resolves when a request can be sent; until then nothing of it has left the pod. */
export type Connect = (ms: number) => Promise<Socket>;

/** `env` is the CLI's: its certificates are the ones its own requests would trust. */
export function connector({ host, port, secure }: Target, env: NodeJS.ProcessEnv): Connect {
  let secureContext: SecureContext | undefined;
  const open = async (): Promise<Socket> => {
    if (!secure) return connectTcp({ host, port, autoSelectFamily: true });
    const tls = await import("node:tls");
    secureContext ??= tls.createSecureContext({ ca: [...tls.rootCertificates, ...certificates(env)] });
    const rejectUnauthorized = env.NODE_TLS_REJECT_UNAUTHORIZED !== "0";
    return tls.connect({ host, port, secureContext, rejectUnauthorized, ...(isIP(host) ? {} : { servername: host }) });
  };
  return async (ms) => {
    const socket = await open().catch((error) => {
      throw new ConnectError(error);
    });
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => socket.destroy(Object.assign(new Error("late"), { code: "ETIMEDOUT" })), ms);
      const failed = (error?: unknown): void => {
        clearTimeout(timer);
        reject(new ConnectError(error));
      };
      socket.once("error", failed);
      socket.once("close", failed);
      socket.once(secure ? "secureConnect" : "connect", () => {
        clearTimeout(timer);
        socket.removeListener("close", failed);
        socket.setKeepAlive(true, 30_000);
        socket.setNoDelay(true);
        resolve(socket);
      });
    });
  };
}

function certificates({ NODE_EXTRA_CA_CERTS, SSL_CERT_FILE }: NodeJS.ProcessEnv): string[] {
  const system = SYSTEM_CERTIFICATES.map(readOrNull).find((text) => text !== null) ?? null;
  const own = [NODE_EXTRA_CA_CERTS, SSL_CERT_FILE].map((file) => (file ? readOrNull(file) : null));
  return [...own, system].filter((text) => text !== null);
}
