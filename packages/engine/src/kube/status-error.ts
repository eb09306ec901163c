import type { IncomingHttpHeaders } from "node:http";
import { ApiError, accessDenied } from "./api-error.ts";
import { deniedAccess } from "./permissions.ts";

/** The `Status` object the API server sends with an error, as far as we use it. */
interface StatusBody {
  readonly kind?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: { readonly retryAfterSeconds?: number };
}

interface FailedAnswer {
  /** Method and path, for people. */
  readonly label: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly mutation: boolean;
}

/** Turns an answer with an error status into an ApiError; proxies answer HTML, so the body is only believed when it is a Status. */
export function statusError(answer: FailedAnswer): ApiError {
  const body = statusBody(answer.text);
  const message = body?.message ?? (answer.text.replaceAll(/\s+/g, " ").trim().slice(0, 200) || "no message");
  const denied = answer.status === 403 ? deniedAccess(message) : null;
  if (denied !== null) return accessDenied(denied);
  return new ApiError(
    answer.status === 401 ? "api_auth" : "api_status",
    `${answer.label}: ${answer.status}${body?.reason ? ` ${body.reason}` : ""}: ${message}`,
    {
      httpStatus: answer.status,
      reason: body?.reason ?? null,
      details: body?.details ?? null,
      retryAfterSec: retryAfterSec(answer.headers["retry-after"]) ?? body?.details?.retryAfterSeconds ?? null,
      // A 5xx can come from a proxy, or from a store that timed out, after the change was made.
      maybeApplied: answer.mutation && answer.status >= 500,
    },
  );
}

/** An ERROR event of a watch carries a Status object instead of an HTTP status. */
export function eventError(label: string, status: unknown): ApiError {
  const body = (typeof status === "object" && status !== null ? status : {}) as StatusBody & { readonly code?: unknown };
  return new ApiError("api_status", `${label}: ${body.reason ?? "error event"}: ${body.message ?? "no message"}`, {
    httpStatus: typeof body.code === "number" ? body.code : null,
    reason: body.reason ?? null,
    details: body.details ?? null,
    retryAfterSec: body.details?.retryAfterSeconds ?? null,
  });
}

function statusBody(text: string): StatusBody | null {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null && (body as StatusBody).kind === "Status" ? (body as StatusBody) : null;
  } catch {
    return null;
  }
}

function retryAfterSec(header: string | undefined): number | null {
  if (header === undefined) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null;
}
