import { randomUUID } from "node:crypto";
import type { ExecutionContext } from "../host/types.ts";

/** What one call of `execute` differs in; the rest is as the newest host hands it over. */
export interface HostCall {
  readonly runId?: string;
  /** The agent's id. */
  readonly agent?: string;
  readonly name?: string;
  readonly company?: string;
  /** The text, as the host renders it. */
  readonly task?: string;
  /** The host's key of the conversation. */
  readonly taskKey?: string | null;
  /** What the last run of this conversation returned as `sessionParams`. */
  readonly session?: Record<string, unknown> | null;
  readonly config?: Record<string, unknown>;
  readonly context?: Record<string, unknown>;
  readonly signal?: AbortSignal;
  /** Called with each whole line of the run's log. */
  readonly onLine?: (line: string) => void;
  /** Any field of the context, put over what is made here; `undefined` takes it away. */
  readonly change?: Partial<ExecutionContext>;
}

/** A context to call `execute` with, and what the host received through it. */
interface HostContext {
  readonly ctx: ExecutionContext;
  /** The log so far, each chunk behind the name of its stream. */
  log(): string;
  readonly meta: readonly unknown[];
  /** Hands on a last line that has no end yet. */
  flush(): void;
}

/** The one builder of a host's context: tests, demo and bench call `execute` with what it makes. */
export function hostContext(call: HostCall = {}): HostContext {
  const { runId = randomUUID(), agent = randomUUID(), name = "Tester", company = "company-1", task, session = null, taskKey = null } = call;
  const log: string[] = [];
  const meta: unknown[] = [];
  const lines = lineSplitter(call.onLine);
  const ctx: ExecutionContext = {
    runId,
    agent: { id: agent, companyId: company, name },
    runtime: { sessionId: null, sessionParams: session, sessionDisplayId: null, taskKey },
    config: call.config ?? {},
    context: { ...(task === undefined ? {} : { paperclipTaskMarkdown: task }), ...call.context },
    onLog: async (stream, chunk) => {
      log.push(`${stream}: ${chunk}`);
      lines.push(chunk);
    },
    onMeta: async (value) => void meta.push(value),
    signal: call.signal ?? new AbortController().signal,
    onCancellationReady: async () => {},
    ...call.change,
  };
  return { ctx, log: () => log.join(""), meta, flush: lines.flush };
}

/** A chunk may end in the middle of a line. */
function lineSplitter(onLine: HostCall["onLine"]) {
  let rest = "";
  return {
    push(chunk: string): void {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) onLine?.(line);
    },
    flush(): void {
      if (rest !== "") onLine?.(rest);
      rest = "";
    },
  };
}
