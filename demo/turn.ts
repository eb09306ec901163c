import { hostContext } from "@paperclip-k8s/paperclip/testing";
import type { Stage } from "./stage.ts";

export type Result = Awaited<ReturnType<Stage["adapter"]["execute"]>>;

export interface Turn {
  readonly task: string;
  readonly session?: Record<string, unknown> | null;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly onLine: (line: string) => void;
  /** Called once the CLI runs; what it does to the run is the scenario's business. */
  readonly whenStarted?: (controls: { cancel(reason: string): void }) => void;
}

export interface TurnReport {
  readonly result: Result;
  readonly ms: number;
  /** Requests to the API server, as `verb resource`. */
  readonly requests: readonly string[];
}

/** One run of the agent, as the host starts it: a context in, a result out, lines in between. */
export async function playTurn(stage: Stage, turn: Turn): Promise<TurnReport> {
  const cancel = new AbortController();
  const before = stage.cluster.requests.length;
  const begun = performance.now();
  const onLine = (line: string) => {
    turn.onLine(line);
    if (line.endsWith("CLI started")) turn.whenStarted?.({ cancel: (reason) => cancel.abort(new Error(reason)) });
  };
  const { ctx, flush } = hostContext({
    agent: "demo-agent",
    company: "demo-company",
    name: "Demo",
    task: turn.task,
    session: turn.session ?? null,
    config: { ...stage.config, ...turn.settings },
    signal: cancel.signal,
    onLine,
  });
  const result = await stage.adapter.execute(ctx);
  flush();
  const requests = stage.cluster.requests.slice(before).map((request) => `${request.watch ? "watch" : request.verb} ${request.resource}`);
  return { result, ms: performance.now() - begun, requests };
}
