import { mayAccess } from "../kube/access-review.ts";
import { ApiError, isForbidden, isNotFound } from "../kube/api-error.ts";
import { type ConnectOptions, connect } from "../kube/connection.ts";
import { type Permission, permissions } from "../kube/permissions.ts";

export interface PermissionReview {
  readonly permission: Permission;
  /** Null = the cluster does not say. */
  readonly allowed: boolean | null;
}

const LIMITS = { timeoutMs: 4000, retry: { attempts: 2 } } as const;

/** What the account may do of what runs need, all of it asked at once. Throws when the API server cannot be talked to at all. */
export async function reviewPermissions(
  cluster: ConnectOptions,
  namespaceOf: (permission: Permission) => string | null,
): Promise<readonly PermissionReview[]> {
  const connection = await connect(cluster);
  const asked = permissions.flatMap((permission) => {
    const namespace = namespaceOf(permission);
    return namespace === null ? [] : [{ permission, namespace }];
  });
  return Promise.all(
    asked.map(async ({ permission, namespace }) => {
      try {
        return { permission, allowed: await mayAccess(connection, namespace, permission, LIMITS) };
      } catch (error) {
        // A cluster may not let everybody ask: then only the attempt will tell.
        if (isForbidden(error) || isNotFound(error)) return { permission, allowed: null };
        throw error instanceof ApiError ? error : new ApiError("api_unreachable", String(error), { cause: error });
      }
    }),
  );
}
