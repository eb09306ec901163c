import { createEngine, RequestError } from "@paperclip-k8s/engine";
import { createAdapter } from "./adapter.ts";
import type { AgentCli } from "./agent-cli/agent-cli.ts";
import { notPrepared } from "./conclude/not-prepared.ts";
import { check } from "./doctor/check.ts";
import { issueOf } from "./host/issue.ts";
import type { ServerAdapter } from "./host/types.ts";
import { RunLog } from "./observe/log.ts";

/**
 * An adapter that cannot work on this server, for a reason that the operator has to remove. The host has it, with its form and its agents, so
 * that each use says what is wrong: an entry that throws while it is loaded is a line in the server's log, and its agents seem to have no adapter.
 */
export function refusingAdapter(cli: AgentCli, problem: string): ServerAdapter {
  const refuse = () => Promise.reject(new Error(problem));
  return {
    ...createAdapter(cli, { engine: createEngine() }),
    execute: async (ctx) => {
      const log = new RunLog(ctx.onLog);
      void log.failure(problem);
      await log.idle();
      return notPrepared(new RequestError("request_invalid", problem), issueOf(ctx)).result;
    },
    testEnvironment: async ({ adapterType }) => ({
      adapterType,
      status: "fail",
      checks: [check("error", "node_too_old", problem)],
      testedAt: new Date().toISOString(),
    }),
    listModels: async () => [...cli.models],
    listSkills: refuse,
    syncSkills: refuse,
  };
}
