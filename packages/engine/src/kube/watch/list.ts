import { isExpired } from "../api-error.ts";
import type { Connection } from "../connection.ts";
import { type RetryOptions, sendRequest } from "../send-request.ts";

interface ListRequest {
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly pageSize?: number;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly background?: boolean;
  /** The list is read anew: what was taken so far may be gone by now. */
  readonly onRestart?: () => void;
  /** What the answer may be; `application/json` unless set. */
  readonly accept?: string;
}

interface Page {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly unknown[];
}

/** Reads a whole list page by page, newest state of the store, each object handed on at once. Returns the list's resourceVersion. */
export async function listAll(
  connection: Connection,
  list: ListRequest,
  take: (raw: unknown) => void,
  retry?: RetryOptions,
): Promise<string> {
  try {
    return await readPages(connection, list, list.pageSize ?? 500, take, retry);
  } catch (error) {
    // The continue token expired between two pages: read everything in one answer.
    if (!isExpired(error)) throw error;
    list.onRestart?.();
    return readPages(connection, list, null, take, retry);
  }
}

async function readPages(
  connection: Connection,
  list: ListRequest,
  limit: number | null,
  take: (raw: unknown) => void,
  retry?: RetryOptions,
): Promise<string> {
  let version: string | null = null;
  let next: string | undefined;
  do {
    const query = { labelSelector: list.labelSelector, fieldSelector: list.fieldSelector, limit, continue: next };
    const { path, timeoutMs, signal, background, accept } = list;
    const request = { method: "GET", path, query, timeoutMs, signal, background, ...(accept === undefined ? {} : { accept }) } as const;
    const { body } = await sendRequest<Page>(connection, request, retry);
    for (const item of body.items ?? []) take(item);
    version ??= body.metadata?.resourceVersion ?? "";
    next = body.metadata?.continue || undefined;
  } while (next !== undefined);
  return version;
}
