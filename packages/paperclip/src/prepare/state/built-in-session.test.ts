import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { BuiltInSession } from "../../agent-cli/built-in-type.ts";
import { DEFAULT_POLICY } from "../../policy/policy.ts";
import { exampleCli } from "../../testing/example-cli.ts";
import { hostContext } from "../../testing/host-context.ts";
import type { RunParts } from "../attempt.ts";
import { builtInState } from "./built-in-session.ts";
import { portable } from "./kept-state.ts";

/** A session in the server's home that cannot be copied now: the copy is not where the CLI's state is. */
function stateOf(context: Record<string, unknown>) {
  const root = mkdtempSync(join(tmpdir(), "built-in-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const [home, volume] = [join(root, "home"), join(root, "volume")];
  for (const folder of [home, volume]) mkdirSync(folder);
  writeFileSync(join(home, "s1.jsonl"), "{}\n");
  const state = { parts: [{ kind: "files" as const, path: ".kept" }], version: () => ["node", "--version"] as const, seeds: [] };
  const sessions = ({ serverHome, sessionId }: BuiltInSession) =>
    [{ kind: "files", path: `${serverHome}/${sessionId}.jsonl`, under: serverHome, first: [], to: "elsewhere" }] as const;
  const parts = {
    ctx: hostContext({ taskKey: "task-1", context }).ctx,
    cli: { ...exampleCli, state, builtIn: { sessions } },
    config: { dataPath: volume, instanceId: "default", env: {}, cwd: null, command: null, stateSaveIntervalSec: 60 },
    inherited: { claim: { mountPath: volume } },
    policy: DEFAULT_POLICY,
    serverEnv: { HOME: home, PAPERCLIP_K8S_RECORD_SECRET: "x".repeat(40) },
  } as unknown as RunParts;
  const importing = { log: () => {}, signal: async () => new AbortController().signal };
  return builtInState(parts, portable(parts, parts.cli.state!, null), "s1", importing);
}

test("a session that cannot be copied now: the host tries again, and its last retry begins anew and says why", async () => {
  await expect(stateOf({})).rejects.toThrow("session s1 of the built-in adapter cannot be copied now: the copy of");
  expect(await stateOf({ scheduledRetryAttempt: 2 })).toMatchObject({
    key: null,
    earlier: { lost: expect.stringContaining("the copy of") },
  });
});
