import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "@paperclip-k8s/engine";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { execute } from "./execute.ts";
import type { ExecutionContext } from "./host/types.ts";
import { exampleCli } from "./testing/example-cli.ts";
import { execKubeconfig } from "./testing/exec-kubeconfig.ts";
import { hostContext } from "./testing/host-context.ts";
import { TEST_POLICY } from "./testing/test-policy.ts";

// A later host gives more than this one knows, and other kinds of values. Each run is cancelled before it begins, so that it ends when all of it is read.

const folder = mkdtempSync(join(tmpdir(), "unknown-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const data = join(folder, "data");
mkdirSync(data);
const kubeconfig = join(folder, "kubeconfig");
writeFileSync(kubeconfig, execKubeconfig("true", []));

const RUNS = process.env.LONG ? 1000 : 60;
const options = { engine: createEngine(), serverEnv: { ...TEST_POLICY, PAPERCLIP_HOME: data }, hostTimeoutMs: 1000 };
const config = { kubeconfig, namespace: "agents", image: "agent:1", dataClaim: "data", dataPath: data };

let prepared = 0;

/** A value may be refused, with words for people; it is never a fault of ours. */
async function answered(change: Record<string, unknown>, context: Record<string, unknown>, settings: Record<string, unknown> = {}) {
  const call = { agent: "agent-1", signal: AbortSignal.abort(), context, config: { ...settings, ...config } };
  const { ctx } = hostContext({ ...call, change: change as Partial<ExecutionContext> });
  const result = await execute(exampleCli, ctx, options);
  expect(["cancelled", "configuration_incomplete"], JSON.stringify(result)).toContain(result.errorCode);
  expect(result.errorMessage ?? "", JSON.stringify(result)).not.toMatch(/is not a function|undefined \(reading|Cannot read|not iterable/);
  if (result.errorCode === "cancelled") prepared++;
}

/** As the host reads it out of its database. */
const json = fc.jsonValue({ maxDepth: 3 });
/** What the host and its later releases name, besides anything else. */
const KEYS = [
  ...["connectionInstructions", "paperclipWorkspace", "paperclipWorkspaces", "paperclipWake", "paperclipIssue", "paperclipScratch"],
  ...["paperclipTaskMarkdown", "paperclipSessionHandoffMarkdown", "paperclipRuntimeServices", "projectId", "taskId", "issueId", "issueIds"],
  ...["wakeReason", "retryOfRunId", "retryReason", "conversationMode", "scheduledRetryAttempt", "__proto__", "toString"],
];
const records = fc.dictionary(fc.oneof(fc.constantFrom(...KEYS), fc.string()), json, { maxKeys: 8 });
const part = fc.record(
  { text: json, digest: json, cwd: json, agentHome: json, source: json, comments: json, issue: json },
  { requiredKeys: [] },
);
const context = fc.tuple(records, fc.dictionary(fc.constantFrom(...KEYS), part)).map(([any, known]) => ({ ...any, ...known }));

test("whatever else the host's context has, a run is answered", () =>
  fc.assert(
    fc.asyncProperty(context, (given) => answered({}, given)),
    { numRuns: RUNS },
  ));

const OWN = new Set(["runId", "agent", "config", "context", "onLog", "onMeta", "signal", "onCancellationReady"]);
const fields = fc.dictionary(
  fc
    .oneof(fc.constantFrom("executionTarget", "runtimeMcp2", "onSpawn2", "workspaceLease", "stopRemoteStartup"), fc.string())
    .filter((key) => !OWN.has(key)),
  json,
);
const session = fc.record(
  { sessionId: json, sessionParams: json, sessionDisplayId: json, taskKey: json, later: json },
  { requiredKeys: [] },
);

test("whatever else a call has, and whatever a session was noted with, a run is answered", () =>
  fc.assert(
    fc.asyncProperty(fields, session, (given, runtime) => answered({ ...given, runtime: { sessionId: null, ...runtime } }, {})),
    { numRuns: RUNS },
  ));

test("whatever else the settings have, a run is answered", () =>
  fc.assert(
    fc.asyncProperty(records, (given) => answered({}, {}, given)),
    { numRuns: RUNS },
  ));

test("most of these runs were prepared to the end", () => expect(prepared).toBeGreaterThan(1.5 * RUNS));
