import type { RunRequest } from "../../request.ts";

/** A complete request for tests; they change what they are about. */
export function exampleRequest(changes: Partial<RunRequest> = {}): RunRequest {
  return {
    runId: "run-1",
    name: { prefix: "agent-", parts: ["worker"], identity: "worker" },
    exclusive: "worker",
    namespace: "agents",
    labels: { "example.io/managed-by": "tests", "example.io/run": "run-1" },
    annotations: {},
    keys: {
      runId: "example.io/run-id",
      nonce: "example.io/nonce",
      runner: "example.io/runner",
      exclusive: "example.io/exclusive",
      output: "example.io/output",
      firstRun: "example.io/first-run",
      adoptedFrom: "example.io/adopted-from",
      records: "example.io/records",
      timeLimit: "example.io/time-limit",
    },
    selector: "example.io/managed-by=tests",
    container: { name: "agent", image: "agent:1", imagePullPolicy: "IfNotPresent", workingDir: "/data", runtime: ["node"] },
    argv: ["agent-cli", "--flag"],
    stdin: Buffer.from("hello"),
    files: {},
    env: { plain: {}, secret: {}, references: [] },
    resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "1", memory: "1Gi" } },
    scheduling: { nodeSelector: {}, tolerations: [], serviceAccountName: null, imagePullSecrets: [], dnsConfig: null },
    volumes: {
      shared: { claimName: "data", mountPath: "/data", subPath: null },
      scratch: [{ name: "home", mountPath: "/agent/home", sizeLimit: "1Gi" }],
    },
    user: { uid: 1000, gid: 1000 },
    limits: { timeoutSec: 0, maxRunSec: 3600, graceSec: 10, scheduleTimeoutSec: 60, ttlSeconds: 600 },
    output: { root: "/data", path: "/data/logs/run-1.ndjson" },
    folders: [],
    finalLine: null,
    retain: false,
    ...changes,
  };
}
