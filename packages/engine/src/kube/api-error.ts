import { type DeniedAccess, denialText } from "./permissions.ts";

type ApiErrorCode =
  /** The API server answered with an error status. */
  | "api_status"
  /** No connection, or it broke before the whole answer was there. */
  | "api_unreachable"
  | "api_timeout"
  /** An answer that is not the API's: HTML of a proxy, cut JSON. */
  | "api_bad_answer"
  /** There are no credentials, or the server does not accept them (401). */
  | "api_auth"
  /** The kubeconfig (or the in-cluster environment) cannot be used. */
  | "api_config";

/** What is known of a failure, besides its message. */
type ApiErrorFields = Partial<Omit<ApiError, "name" | "code" | "message" | "stack" | "afterLostAnswer">>;

/** What went wrong with a request. Never holds headers or bodies sent, so no token can leak through it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ApiErrorCode;
  readonly httpStatus: number | null = null;
  /** `reason` of the Status object: NotFound, AlreadyExists, Expired. */
  readonly reason: string | null = null;
  readonly details: unknown = null;
  readonly retryAfterSec: number | null = null;
  /** This request, or an earlier try of it, may have changed the cluster although that was not confirmed. */
  readonly maybeApplied: boolean = false;
  /** The permission that a 403 names as missing; null = it is about something else. */
  readonly denied: DeniedAccess | null = null;
  /** `code` of the system error underneath: ECONNREFUSED, CERT_HAS_EXPIRED. */
  readonly systemCode: string | null = null;

  constructor(code: ApiErrorCode, message: string, { cause, ...fields }: ApiErrorFields = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    Object.assign(this, fields);
  }

  /** The same failure, after an earlier try whose answer was lost. */
  afterLostAnswer(): ApiError {
    return this.maybeApplied ? this : new ApiError(this.code, this.message, { ...this, cause: this.cause, maybeApplied: true });
  }
}

/** The account lacks a permission; the message names it. */
export const accessDenied = (denied: DeniedAccess): ApiError =>
  new ApiError("api_status", denialText(denied), { httpStatus: 403, reason: "Forbidden", denied });

const hasStatus = (error: unknown, status: number, reason?: string): error is ApiError =>
  error instanceof ApiError && error.httpStatus === status && (reason === undefined || error.reason === reason);

/** The API server names the kind of what is not there. Proxies before it, such as Teleport's, write a Status of this reason too. */
export const isNotFound = (error: unknown): error is ApiError => hasStatus(error, 404, "NotFound") && kindOf(error) !== undefined;
const kindOf = ({ details }: ApiError): unknown => (details as { kind?: unknown } | null)?.kind;
/** A 404 that says nothing about the object: of a proxy before the API server, or of an API that the cluster does not have. */
export const isUnknownPath = (error: unknown): boolean => hasStatus(error, 404) && !isNotFound(error);
export const isAlreadyExists = (error: unknown): error is ApiError => hasStatus(error, 409, "AlreadyExists");
/** 409 of any other kind: a precondition, a concurrent write, a busy quota. */
export const isConflict = (error: unknown): error is ApiError => hasStatus(error, 409) && !isAlreadyExists(error);
/** The credentials are not accepted, or could not be had: a token file or an exec plugin may be back in a moment. */
export const isUnauthorized = (error: unknown): error is ApiError => error instanceof ApiError && error.code === "api_auth";
/** Nothing was sent: certificate and key are none, or do not belong together, as while somebody replaces one after the other. */
export const isUnusableCertificate = (error: unknown): error is ApiError =>
  error instanceof ApiError && !error.maybeApplied && Boolean(error.systemCode?.startsWith("ERR_OSSL_"));
export const isForbidden = (error: unknown): error is ApiError => hasStatus(error, 403);
/** 403 because a permission is missing; quotas and admission plugins answer 403 too. */
export const isAccessDenied = (error: unknown): error is ApiError & { readonly denied: DeniedAccess } =>
  error instanceof ApiError && error.denied !== null;
export const isInvalid = (error: unknown): error is ApiError => hasStatus(error, 422);
/** The resourceVersion or the continue token is too old. */
export const isExpired = (error: unknown): error is ApiError => hasStatus(error, 410);

/** Node's names for a server's certificate that it does not accept. */
const CERTIFICATE_CODES = new Set(
  "CERT_HAS_EXPIRED CERT_NOT_YET_VALID CERT_UNTRUSTED CERT_REVOKED CERT_SIGNATURE_FAILURE INVALID_CA DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE ERR_TLS_CERT_ALTNAME_INVALID HOSTNAME_MISMATCH".split(
    " ",
  ),
);
/** The API server's certificate is not accepted: the certificate authority or the address in the kubeconfig is wrong, or one of the clocks. */
export const isBadCertificate = (error: unknown): error is ApiError =>
  error instanceof ApiError && CERTIFICATE_CODES.has(error.systemCode ?? "");

/** What a reader of a run gets to read; null = no more than that the API server cannot be reached. */
export function problemText(error: ApiError): string | null {
  if (error.denied !== null) return error.message;
  if (CERTIFICATE_CODES.has(error.systemCode ?? ""))
    return `the API server's certificate is not accepted (${error.systemCode}): check the certificate authority and the address in the kubeconfig, and the clocks`;
  if (error.httpStatus === 401) return "the API server does not accept the credentials (401)";
  if (error.httpStatus === null) return null;
  return `the API server answers ${error.httpStatus}${error.reason === null ? "" : ` ${error.reason}`} (${error.message})`;
}

const transientStatus = new Set([429, 500, 502, 503, 504]);
const transientSystemCodes = new Set(
  "ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENETDOWN ENOTFOUND EAI_AGAIN".split(" "),
);

/** Worth another try: the cause usually passes by itself. A wrong certificate or a missing permission does not. */
export function isTransient(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  if (error.code === "api_timeout") return true;
  if (error.code === "api_unreachable") return error.systemCode === null || transientSystemCodes.has(error.systemCode);
  return (error.code === "api_status" && transientStatus.has(error.httpStatus ?? 0)) || isUnknownPath(error);
}
