import type { Target, Verb } from "./route.ts";

// One request as the server saw it; `status` is filled in when the answer is sent.
export interface AuditEntry {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly verb: Verb | "other";
  readonly resource: string;
  readonly subresource: string | null;
  readonly name: string | null;
  readonly namespace: string | null;
  readonly query: Readonly<Record<string, string>>;
  readonly watch: boolean;
  /** Name of the user; null as long as it is not known. */
  account: string | null;
  /** null as long as nothing was answered. */
  status: number | null;
  bodyBytes: number;
}

/** An access review names no stored resource, and is a create all the same. */
export const reviewPath = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

export function auditEntry(method: string, url: URL, target: Target | undefined, verb: Verb | undefined): AuditEntry {
  return {
    at: Date.now(),
    method,
    path: url.pathname,
    verb: verb ?? (url.pathname === reviewPath ? "create" : "other"),
    resource: target?.resource ?? url.pathname.split("/").at(-1) ?? "",
    subresource: target?.subresource ?? null,
    name: target?.name ?? null,
    namespace: target?.namespace ?? null,
    query: Object.fromEntries(url.searchParams),
    watch: verb === "watch",
    account: null,
    status: null,
    bodyBytes: 0,
  };
}
