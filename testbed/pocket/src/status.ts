import { qualified, type ResourceName, resources } from "./resources.ts";

export interface Cause {
  reason: string;
  message: string;
  field: string;
}

export interface StatusBody {
  kind: "Status";
  apiVersion: "v1";
  metadata: Record<string, never>;
  status: "Success" | "Failure";
  message?: string;
  reason?: string;
  details?: { name?: string; group?: string; kind?: string; uid?: string; causes?: Cause[]; retryAfterSeconds?: number };
  code?: number;
}

// An answer other than success, carrying the Status body the real server would send.
export class ApiError extends Error {
  readonly code: number;
  readonly body: StatusBody;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: number, reason: string, message: string, details?: StatusBody["details"]) {
    super(message);
    this.code = code;
    this.body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
    if (details) this.body.details = details;
    this.headers = details?.retryAfterSeconds === undefined ? {} : { "retry-after": String(details.retryAfterSeconds) };
  }
}

// Success of a delete: the object is gone, this is what is left to say about it.
export function deletedStatus(resource: ResourceName, name: string, uid: string): StatusBody {
  const { group } = resources[resource];
  const details = group === "" ? { name, kind: resource, uid } : { name, group, kind: resource, uid };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}

const where = (resource: ResourceName, name: string) => {
  const { group } = resources[resource];
  return group === "" ? { name, kind: resource } : { name, group, kind: resource };
};

export const badRequest = (message: string): ApiError => new ApiError(400, "BadRequest", message);

export const unauthorized = (): ApiError => new ApiError(401, "Unauthorized", "Unauthorized");

export const notFound = (resource: ResourceName, name: string): ApiError =>
  new ApiError(404, "NotFound", `${qualified(resource)} "${name}" not found`, where(resource, name));

export const noSuchPath = (): ApiError => new ApiError(404, "NotFound", "the server could not find the requested resource", {});

export const methodNotAllowed = (): ApiError =>
  new ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});

export const alreadyExists = (resource: ResourceName, name: string): ApiError =>
  new ApiError(409, "AlreadyExists", `${qualified(resource)} "${name}" already exists`, where(resource, name));

export const conflict = (resource: ResourceName, name: string, why: string): ApiError =>
  new ApiError(409, "Conflict", `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`, where(resource, name));

export const modified = (resource: ResourceName, name: string): ApiError =>
  conflict(resource, name, "the object has been modified; please apply your changes to the latest version and try again");

export const expired = (message: string): ApiError => new ApiError(410, "Expired", message);

export const tooLarge = (limit: number): ApiError =>
  new ApiError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${limit}`, {});

export const unsupportedMediaType = (): ApiError =>
  new ApiError(
    415,
    "UnsupportedMediaType",
    "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json",
    {},
  );

// What a JSON patch whose `test` does not hold gets; the real server gives no details either.
export const patchRejected = (): ApiError =>
  new ApiError(422, "Invalid", "the server rejected our request due to an error in our request", {});

export function invalid(resource: ResourceName, name: string, causes: readonly Cause[]): ApiError {
  const { group, kind } = resources[resource];
  const texts = causes.map((cause) => `${cause.field}: ${cause.message}`);
  const all = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  const details = { name, ...(group === "" ? {} : { group }), kind, causes: [...causes] };
  const qualifiedKind = group === "" ? kind : `${kind}.${group}`;
  return new ApiError(422, "Invalid", `${qualifiedKind} "${name}" is invalid: ${all}`, details);
}
