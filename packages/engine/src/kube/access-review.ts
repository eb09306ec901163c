import { type ApiError, accessDenied, isTransient, isUnknownPath } from "./api-error.ts";
import type { CallOptions } from "./calls.ts";
import type { Connection } from "./connection.ts";
import { paths } from "./paths.ts";
import { type Permission, permissions } from "./permissions.ts";
import { sendRequest } from "./send-request.ts";

/** Null = the API server does not know. */
export async function mayAccess(
  connection: Connection,
  namespace: string,
  { verb, resource, group, scope }: Pick<Permission, "verb" | "resource" | "group" | "scope">,
  { retry, ...limits }: CallOptions = {},
): Promise<boolean | null> {
  const spec = { resourceAttributes: { ...(scope === "cluster" ? {} : { namespace }), verb, resource, group } };
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec };
  const request = { method: "POST", path: paths.accessReviews, body, idempotent: true, ...limits } as const;
  const answer = await sendRequest<{ status?: { allowed?: unknown; evaluationError?: unknown } }>(connection, request, retry);
  const { allowed, evaluationError } = answer.body.status ?? {};
  if (allowed === true) return true;
  return allowed === false && !evaluationError ? false : null;
}

/** Required, and not proved by a request that is made before a Job exists, nor by its creation. */
const unproved = permissions.filter(
  ({ required, verb, resource }) => required && verb !== "list" && verb !== "watch" && !(verb === "create" && resource === "jobs"),
);

const known = new WeakMap<Connection, Map<string, Promise<ApiError | null>>>();

/**
 * The error if the account lacks a permission that a run would miss only after its Job was created; null = it has them, or that is not known.
 * Asked once for each namespace; a permission that is lost later shows in the requests that need it.
 */
export function lackingAccess(connection: Connection, namespace: string, options: CallOptions = {}): Promise<ApiError | null> {
  const answers = known.get(connection) ?? new Map<string, Promise<ApiError | null>>();
  known.set(connection, answers);
  const before = answers.get(namespace);
  if (before) return before;
  const asked = ask(connection, namespace, options).then(({ lacking, final }) => {
    if (!final) answers.delete(namespace);
    return lacking;
  });
  answers.set(namespace, asked);
  return asked;
}

async function ask(connection: Connection, namespace: string, options: CallOptions) {
  const answers = await Promise.all(
    unproved.map(async (row) => {
      try {
        return { row, allowed: await mayAccess(connection, namespace, row, options), final: true };
      } catch (error) {
        // That a cluster has no access reviews is a final answer too; a request that failed is not.
        return { row, allowed: null, final: !isTransient(error) || isUnknownPath(error) };
      }
    }),
  );
  const denied = answers.find(({ allowed }) => allowed === false);
  if (denied === undefined) return { lacking: null, final: answers.every(({ final }) => final) };
  const { verb, resource, group } = denied.row;
  return { lacking: accessDenied({ verb, resource, group, namespace, user: null }), final: false };
}
