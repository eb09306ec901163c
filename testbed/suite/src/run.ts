import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import {
  createEngine,
  createSettledJobs,
  type Engine,
  type EngineOptions,
  type RunIo,
  type RunOutcome,
  type RunRequest,
  type StatusLine,
} from "@paperclip-k8s/engine";
import type { Bed } from "./bed.ts";
import { noteRun } from "./calm.ts";

/** What a test wants to differ from a plain run. */
export interface RunOptions {
  /** JavaScript that plays the CLI; or a whole command line. */
  readonly script?: string;
  readonly argv?: readonly [string, ...string[]];
  readonly change?: (request: RunRequest) => RunRequest;
  readonly engine?: EngineOptions;
  /** One for several runs, as in a server; each has its own unless set. */
  readonly server?: Engine;
  readonly onStatus?: (line: StatusLine) => void;
  readonly onLockConflict?: RunIo["onLockConflict"];
  readonly detach?: AbortSignal;
  /** A random one unless set. */
  readonly runId?: string;
  /** Called with each chunk of output, awaited. */
  readonly onOutput?: (bytes: Buffer) => Promise<void> | void;
}

export interface RunHandle {
  readonly request: RunRequest;
  readonly done: Promise<FinishedRun>;
  readonly status: StatusLine[];
  readonly output: () => Buffer;
  /** The run's objects as they stand in the cluster now. */
  jobs(): Promise<number>;
  secrets(): Promise<number>;
  job(): Promise<string>;
  pod(): Promise<string>;
  cancel(reason?: string): void;
  /** Resolves when the output so far contains the text; rejects when the run ends without. */
  saw(text: string): Promise<void>;
}

export interface FinishedRun {
  readonly outcome: RunOutcome;
  readonly output: Buffer;
  readonly stderr: string;
  readonly status: readonly StatusLine[];
}

export const KEYS: RunRequest["keys"] = {
  runId: "suite.test/run-id",
  nonce: "suite.test/nonce",
  runner: "suite.test/runner",
  exclusive: "suite.test/exclusive",
  output: "suite.test/output",
  firstRun: "suite.test/first-run",
  adoptedFrom: "suite.test/adopted-from",
  records: "suite.test/records",
  timeLimit: "suite.test/time-limit",
};

/** All servers of the suite have the same. */
const SECRET = Buffer.from("the secret of the suite's servers");

/** Pods start in real time: on a clock that a test moves on, the cluster would look as if it took minutes for each. */
function patient(options: EngineOptions = {}): EngineOptions {
  const unhurried = { noPod: 36e5, schedule: 36e5, start: 36e5 };
  return options.clock === undefined ? options : { ...options, timeouts: { ...unhurried, ...options.timeouts } };
}

/** Starts a run of the real engine on the bed's cluster. */
export function startRun(bed: Bed, options: RunOptions): RunHandle {
  const request = (options.change ?? ((same) => same))(plainRequest(bed, options));
  // Unless another one is given, each run has a server of its own, which knows nothing of what the others have settled.
  const engine = options.server ?? createEngine({ settled: createSettledJobs(), ...patient(options.engine) });
  const cancel = new AbortController();
  const chunks: Buffer[] = [];
  const status: StatusLine[] = [];
  const watchers = new Set<() => void>();
  let stderr = "";
  const output = () => Buffer.concat(chunks);
  const done = engine
    .run(
      request,
      { kubeconfig: bed.kubeconfig },
      {
        signal: cancel.signal,
        onOutput: async (bytes) => {
          await options.onOutput?.(bytes);
          if (options.onOutput === undefined) chunks.push(Buffer.from(bytes));
          for (const watcher of watchers) watcher();
        },
        onStderr: async (text) => {
          stderr += text;
        },
        onStatus: (line) => {
          status.push(line);
          options.onStatus?.(line);
        },
        ...(options.onLockConflict === undefined ? {} : { onLockConflict: options.onLockConflict }),
        ...(options.detach === undefined ? {} : { detach: options.detach }),
      },
    )
    .then((outcome) => ({ outcome, output: output(), stderr, status }));
  done.catch(() => {});
  const mine = async (kind: "jobs" | "pods" | "secrets") =>
    (await bed.list(kind)).filter((object) => object.metadata.labels?.["suite.test/run-id"] === request.runId);
  const only = async (kind: "jobs" | "pods") => {
    const name = (await mine(kind))[0]?.metadata.name;
    if (name === undefined) throw new Error(`the run has no object among the ${kind}`);
    return name;
  };
  const handle: RunHandle = {
    jobs: async () => (await mine("jobs")).length,
    secrets: async () => (await mine("secrets")).length,
    job: () => only("jobs"),
    pod: () => only("pods"),
    request,
    done,
    status,
    output,
    cancel: (reason = "asked by the test") => cancel.abort(new Error(reason)),
    saw: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!output().includes(text)) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
        const over = (how: string) => reject(new Error(`the run ended (${how}) without ${JSON.stringify(text)} in its output`));
        done.then(({ outcome }) => over(outcome.kind), over);
      }),
  };
  noteRun(bed.faults, handle);
  return handle;
}

/** A CLI that says "on", and when it is released "off": no test depends on how long the machine takes. */
export function gatedScript(bed: Pick<Bed, "data">, { exitCode = 0 }: { readonly exitCode?: number } = {}) {
  const gate = `${bed.data}/gate-${randomUUID()}`;
  const script = `console.log("on"); const t = setInterval(() => { if (!require("node:fs").existsSync(${JSON.stringify(gate)})) return;
    clearInterval(t); console.log("off"); process.exitCode = ${exitCode}; }, 20)`;
  return { script, release: () => writeFile(gate, "") };
}

/**
 * Halts the runner when it has written its end record, until the gate is there: its pod ends late. Where that is not possible the pod just ends;
 * a file beside the gate, `-halted`, says that it was.
 */
export function lateEnd(meta: string, gate: string): string {
  // It looks every millisecond: the runner exits some milliseconds after its record.
  const helper = `const { existsSync, readFileSync, writeFileSync, writeSync } = require("node:fs"); const runner = Number(process.argv[1]);
    const has = (file, text) => { try { return readFileSync(file, "utf8").includes(text); } catch { return false; } };
    writeSync(1, "ready");
    const tick = new Int32Array(new SharedArrayBuffer(4));
    for (; !has(${JSON.stringify(meta)}, '"type":"end"'); Atomics.wait(tick, 0, 0, 1)) if (!existsSync("/proc/" + runner)) process.exit();
    process.kill(runner, "SIGSTOP");
    const t = setInterval(() => { if (has("/proc/" + runner + "/stat", ") T ")) writeFileSync(${JSON.stringify(`${gate}-halted`)}, "");
      if (!existsSync(${JSON.stringify(gate)})) return; clearInterval(t); process.kill(runner, "SIGCONT"); }, 20)`;
  return `const helper = require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(helper)}, String(process.ppid)],
    { detached: true, stdio: ["ignore", "pipe", "ignore"] }); helper.unref();
    helper.stdout.once("data", () => { console.log("x"); helper.stdout.destroy(); })`;
}

export async function finishRun(bed: Bed, options: RunOptions): Promise<FinishedRun> {
  return startRun(bed, options).done;
}

/** Runs of one key take turns. */
export const keyed = (key: string, options: RunOptions = {}): RunOptions => ({
  ...options,
  change: (request) => ({
    ...(options.change ?? ((same) => same))(request),
    exclusive: key,
    name: { prefix: "suite-", parts: [key], identity: key },
  }),
});

function plainRequest(bed: Bed, options: RunOptions): RunRequest {
  const runId = options.runId ?? randomUUID();
  return {
    runId,
    name: { prefix: "suite-", parts: [runId], identity: runId },
    exclusive: null,
    namespace: bed.namespace,
    labels: { "suite.test/managed": "yes", "suite.test/run-id": runId },
    annotations: {},
    keys: KEYS,
    selector: "suite.test/managed=yes",
    container: { name: "agent", image: bed.images.agent, imagePullPolicy: "IfNotPresent", workingDir: bed.data, runtime: ["node"] },
    argv: options.argv ?? ["node", "-e", options.script ?? ""],
    stdin: Buffer.alloc(0),
    files: {},
    env: { plain: { HOME: "/agent/home" }, secret: {}, references: [] },
    resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { cpu: "2", memory: "2Gi" } },
    scheduling: { nodeSelector: {}, tolerations: [], serviceAccountName: null, imagePullSecrets: [], dnsConfig: null },
    volumes: {
      shared: { claimName: "data", mountPath: bed.data, subPath: null },
      scratch: [{ name: "home", mountPath: "/agent/home", sizeLimit: "1Gi" }],
    },
    user: { uid: 1000, gid: 1000 },
    limits: { timeoutSec: 0, maxRunSec: 3600, graceSec: 5, scheduleTimeoutSec: 60, ttlSeconds: 600 },
    output: { root: bed.data, path: `${bed.data}/logs/${runId}.ndjson` },
    folders: [],
    recordSecret: SECRET,
    finalLine: { pattern: '"type":"final"', endAfterSec: null },
    retain: false,
  };
}
