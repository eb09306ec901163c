import type { Verb } from "./route.ts";

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
  /** null as long as nothing was answered. */
  status: number | null;
  bodyBytes: number;
}
