import type { IncomingMessage } from "node:http";
import { ApiError, accessDenied } from "./api-error.ts";
import { type ApiRequest, type ApiResponse, isMutation, labelOf } from "./exchange.ts";
import { deniedAccess } from "./permissions.ts";
import { object } from "./views.ts";

/** The `Status` object the API server sends with an error, as far as we use it. */
interface StatusBody {
  readonly kind?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: { readonly retryAfterSeconds?: number };
}

/** Reads the whole answer; an error status becomes an ApiError. */
export async function readAnswer<T>(req: ApiRequest, response: IncomingMessage): Promise<ApiResponse<T>> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  const status = response.statusCode ?? 0;
  const body = parsed(text);
  if (status < 200 || status > 299) throw statusError(req, response, text, body);
  if (body !== undefined) return { status, body: body as T, warnings: warningTexts(response.headers.warning) };
  const message = `${labelOf(req)}: ${status}, but the answer is not JSON`;
  throw new ApiError("api_bad_answer", message, { httpStatus: status, maybeApplied: isMutation(req) });
}

/** Undefined = not JSON. The parser's own message quotes the answer, which can hold a Secret. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Proxies answer HTML, so the body is only believed when it is a Status. */
function statusError(req: ApiRequest, { statusCode: status = 0, headers }: IncomingMessage, text: string, answer: unknown): ApiError {
  const body: StatusBody = object(answer).kind === "Status" ? object(answer) : {};
  const message = body.message ?? (text.replaceAll(/\s+/g, " ").trim().slice(0, 200) || "no message");
  const denied = status === 403 ? deniedAccess(message) : null;
  if (denied !== null) return accessDenied(denied);
  const fields = statusFields(body);
  const reason = body.reason ? ` ${body.reason}` : "";
  return new ApiError(status === 401 ? "api_auth" : "api_status", `${labelOf(req)}: ${status}${reason}: ${message}`, {
    ...fields,
    httpStatus: status,
    retryAfterSec: retryAfterSec(headers["retry-after"]) ?? fields.retryAfterSec,
    // A 5xx can come from a proxy, or from a store that timed out, after the change was made.
    maybeApplied: isMutation(req) && status >= 500,
  });
}

/** An ERROR event of a watch carries a Status object instead of an HTTP status. */
export function eventError(label: string, status: unknown): ApiError {
  const body: StatusBody & { readonly code?: unknown } = object(status);
  const message = `${label}: ${body.reason ?? "error event"}: ${body.message ?? "no message"}`;
  return new ApiError("api_status", message, { ...statusFields(body), httpStatus: typeof body.code === "number" ? body.code : null });
}

function statusFields({ reason, details }: StatusBody) {
  return { reason: reason ?? null, details: details ?? null, retryAfterSec: details?.retryAfterSeconds ?? null };
}

function retryAfterSec(header: string | undefined): number | null {
  if (header === undefined) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null;
}

/** Texts of Warning headers, which Node joins by commas: `299 - "text", 299 - "other \"text\""`. */
export function warningTexts(header: string | readonly string[] | undefined): readonly string[] {
  const text = typeof header === "string" ? header : (header?.join(", ") ?? "");
  return [...text.matchAll(/\b\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, quoted = ""]) => quoted.replace(/\\(.)/g, "$1"));
}
