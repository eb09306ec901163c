/** An answer of the host's API that is not 2xx. */
export class ApiError extends Error {
  readonly status: number;
  readonly body: unknown;

  constructor(request: string, status: number, body: unknown) {
    super(`${request}: HTTP ${status} ${JSON.stringify(body)?.slice(0, 500)}`);
    this.status = status;
    this.body = body;
  }
}

/** Where a host is, and what makes us its owner there; a local_trusted one takes whoever is on its machine for that. */
export interface HostAddress {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Longer than the host waits for a cancelled run (60 s). */
const TIMEOUT_MS = 90_000;

/** One request to the host's API. */
export async function call<T>(host: HostAddress, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(`${host.url}/api${path}`, {
    method,
    headers: { ...host.headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await answer.text();
  const value = parse(text);
  if (!answer.ok) throw new ApiError(`${method} ${path}`, answer.status, value);
  return value as T;
}

// Some routes answer with plain text: the ui-parser, the configuration doc.
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
