import { isExpired } from "../api-error.ts";
import type { Connection } from "../connection.ts";
import type { ApiRequest } from "../exchange.ts";
import { type RetryOptions, sendRequest } from "../send-request.ts";

interface ListRequest extends Pick<ApiRequest, "path" | "timeoutMs" | "signal" | "background" | "priority" | "accept"> {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly pageSize?: number;
  /** The list is read anew: what was taken so far may be gone by now. */
  readonly onRestart?: () => void;
}

interface WholeList<V> {
  readonly items: V[];
  readonly resourceVersion: string;
}

interface Page {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly unknown[];
}

/** Reads a whole list page by page, newest state of the store, each object projected at once. */
export async function listAll<V>(
  connection: Connection,
  { labelSelector, fieldSelector, pageSize = 500, onRestart, ...request }: ListRequest,
  project: (raw: unknown) => V,
  retry?: RetryOptions,
): Promise<WholeList<V>> {
  const readPages = async (limit: number | null): Promise<WholeList<V>> => {
    const items: V[] = [];
    let version: string | null = null;
    let next: string | undefined;
    do {
      const query = { labelSelector, fieldSelector, limit, continue: next };
      const { body } = await sendRequest<Page>(connection, { method: "GET", query, ...request }, retry);
      for (const item of body.items ?? []) items.push(project(item));
      version ??= body.metadata?.resourceVersion ?? "";
      next = body.metadata?.continue || undefined;
    } while (next !== undefined);
    return { items, resourceVersion: version };
  };
  try {
    return await readPages(pageSize);
  } catch (error) {
    // The continue token expired between two pages: read everything in one answer.
    if (!isExpired(error)) throw error;
    onRestart?.();
    return readPages(null);
  }
}
