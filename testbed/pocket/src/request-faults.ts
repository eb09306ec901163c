import type { AuditEntry } from "./audit.ts";
import { ApiError } from "./status.ts";

/** Which requests a fault concerns; what is left out matches all. `watch` requests are only matched when `verb` or `watch` says so. */
export interface RequestMatch {
  readonly verb?: AuditEntry["verb"] | readonly AuditEntry["verb"][];
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string | RegExp;
  readonly namespace?: string;
  readonly watch?: boolean;
}

export interface Fault {
  /** Requests, events or pods it has hit. */
  readonly hits: number;
  undo(): void;
}

export type FaultAction =
  | { readonly kind: "fail"; readonly error: ApiError }
  | { readonly kind: "hang" }
  | { readonly kind: "delay"; readonly ms: number }
  | { readonly kind: "drop"; readonly when: "before" | "after" };

interface Armed {
  readonly match: RequestMatch;
  readonly action: FaultAction;
  left: number;
  hits: number;
}

export function matches(match: RequestMatch, entry: AuditEntry): boolean {
  const verbs = match.verb === undefined ? undefined : [match.verb].flat();
  if (verbs ? !verbs.includes(entry.verb) : entry.watch !== (match.watch ?? false)) return false;
  if (match.resource !== undefined && match.resource !== entry.resource) return false;
  if (match.subresource !== undefined && match.subresource !== entry.subresource) return false;
  if (match.namespace !== undefined && match.namespace !== entry.namespace) return false;
  if (match.name === undefined) return true;
  return typeof match.name === "string" ? match.name === entry.name : match.name.test(entry.name ?? "");
}

// Faults on the wire, in the order they were set; each request meets at most one.
export class RequestFaults {
  readonly #armed = new Set<Armed>();

  add(match: RequestMatch, action: FaultAction, times: number): Fault {
    const armed: Armed = { match, action, left: times, hits: 0 };
    this.#armed.add(armed);
    return {
      get hits() {
        return armed.hits;
      },
      undo: () => this.#armed.delete(armed),
    };
  }

  take(entry: AuditEntry): FaultAction | undefined {
    const hit = [...this.#armed].find((armed) => matches(armed.match, entry));
    if (!hit) return undefined;
    hit.hits += 1;
    hit.left -= 1;
    if (hit.left <= 0) this.#armed.delete(hit);
    return hit.action;
  }
}

const reasons: Record<number, [reason: string, message: string]> = {
  403: ["Forbidden", 'forbidden: User "pocket" cannot do this'],
  429: ["TooManyRequests", "The server is currently unable to handle the request: too many requests, please try again later."],
  500: ["InternalError", "Internal error occurred: injected by pocket"],
  503: ["ServiceUnavailable", "the server is currently unable to handle the request"],
  504: ["Timeout", "Timeout: request did not complete within the allotted time"],
};

export function failure(status: number, options: { reason?: string; message?: string; retryAfter?: number }): ApiError {
  const [reason, message] = reasons[status] ?? ["Unknown", `injected by pocket: ${status}`];
  const details = options.retryAfter === undefined ? {} : { retryAfterSeconds: options.retryAfter };
  return new ApiError(status, options.reason ?? reason, options.message ?? message, details);
}
