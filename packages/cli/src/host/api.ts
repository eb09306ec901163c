/** The host said no, or nothing. */
export class HostError extends Error {
  override readonly name = "HostError";
  readonly status: number | null;

  constructor(message: string, status: number | null, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

const TIMEOUT_MS = 30_000;

/** The host's API with the operator's own credentials. */
export class HostApi {
  readonly url: string;
  readonly #token: string | null;

  constructor(url: string, token: string | null) {
    this.url = url.replace(/\/+$/, "").replace(/\/api$/, "");
    this.#token = token;
  }

  get<T>(path: string): Promise<T> {
    return this.#send("GET", path);
  }

  post<T>(path: string, body: unknown): Promise<T> {
    return this.#send("POST", path, body);
  }

  async #send<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers: Record<string, string> = this.#token === null ? {} : { authorization: `Bearer ${this.#token}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    const request = {
      method,
      headers,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const answer = await fetch(`${this.url}/api${path}`, request).catch((cause: unknown) => {
      throw new HostError(`${this.url} does not answer: ${reasonOf(cause)}`, null, { cause });
    });
    const text = await answer.text();
    if (!answer.ok) throw new HostError(`${method} /api${path}: ${refusal(answer.status, text, this.#token)}`, answer.status);
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw new HostError(`${method} /api${path}: the answer is not JSON; is ${this.url} a Paperclip server?`, answer.status, { cause });
    }
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? ("code" in cause && String(cause.code)) || cause.message : String(error);
}

function refusal(status: number, text: string, token: string | null): string {
  if (token === null && (status === 401 || status === 403)) return `${status}, a board API key is needed (PAPERCLIP_API_KEY)`;
  if (status === 401) return "401, the API key is not accepted";
  const said = text.match(/"error":"((?:[^"\\]|\\.)*)"/)?.[1] ?? text.slice(0, 200);
  return `${status} ${said}`.trim();
}
