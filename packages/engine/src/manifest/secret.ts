import type { RelaySpec, RunFiles, RunnerSpec, StateSpec } from "@paperclip-k8s/runner";
import { RUNNER_MAIN } from "@paperclip-k8s/runner/files";
import { nodeCheckText } from "@paperclip-k8s/runner/node-check-text";
import { WAKE_UP_FILE, type WakeUpAddress } from "@paperclip-k8s/runner/wake-up";
import { RequestError } from "../errors.ts";
import { recordKey, stateKey } from "../record-trust.ts";
import type { RunRequest } from "../request.ts";
import { DRAIN_SEC, stopGraceSec, volumeWaitSec } from "./deadlines.ts";
import type { Submission } from "./submission.ts";
import { toolFolders } from "./tools.ts";

/** What the API server accepts as the sum of a Secret's values. */
export const MAX_SECRET_BYTES = 1024 * 1024;
/** What the pod starts: it looks at the version of Node, and then loads the runner. */
export const RUNNER_FILE = "runner.cjs";
const SPEC_FILE = "spec.json";
const STDIN_FILE = "stdin";
const CREDENTIALS_FILE = "credentials.json";

/** The run's Secret: runner, spec, prompt and files, base64 by key. */
export function secretData(
  request: RunRequest,
  parts: { readonly nonce: string; readonly files: RunFiles; readonly runnerText: string; readonly wakeUp: WakeUpAddress | null },
): Record<string, string> {
  const contents: Record<string, Uint8Array> = {
    [RUNNER_FILE]: Buffer.from(nodeCheckText),
    [RUNNER_MAIN]: Buffer.from(parts.runnerText),
    [SPEC_FILE]: Buffer.from(JSON.stringify(runnerSpec(request, parts.nonce, parts.files))),
    [STDIN_FILE]: typeof request.stdin === "string" ? Buffer.from(request.stdin) : request.stdin,
    ...ownersFiles(request, parts.wakeUp),
  };
  for (const [name, text] of Object.entries(request.files)) contents[checkedFileName(name, contents)] = Buffer.from(text);
  checkSize(contents);
  return base64(contents);
}

function runnerSpec(request: RunRequest, nonce: string, files: RunFiles): RunnerSpec {
  return {
    format: 1,
    run: request.runId,
    nonce,
    argv: request.argv,
    env: request.env.secret,
    stdinFile: STDIN_FILE,
    files,
    timeoutSec: request.limits.timeoutSec,
    graceSec: request.limits.graceSec,
    stopGraceSec: stopGraceSec(request.limits),
    drainSec: DRAIN_SEC,
    volumeWaitSec: volumeWaitSec(request.limits),
    ...(request.limits.outputBytes === undefined ? {} : { outputBytes: request.limits.outputBytes }),
    finalLine: request.finalLine,
    ...(request.volumes.claims?.length ? { writable: request.volumes.claims.map(({ mountPath }) => mountPath) } : {}),
    seed: request.seed ?? null,
    ...(request.defaults?.length ? { defaults: request.defaults } : {}),
    state: stateSpec(request),
    ...(request.recordSecret == null ? {} : { key: recordKey(request.recordSecret, request.runId, nonce).toString("base64url") }),
    relay: relaySpec(request),
    ...(request.programs == null ? {} : { programs: request.programs }),
    ...(request.tools == null ? {} : { path: toolFolders(request) }),
  };
}

/** The states of one folder have one key, whichever run saves or restores them. */
function stateSpec({ state = null, recordSecret }: RunRequest): StateSpec | null {
  return state === null || recordSecret == null ? state : { ...state, key: stateKey(recordSecret, state.saved) };
}

function relaySpec({ relay = null }: RunRequest): RelaySpec | null {
  if (relay === null) return null;
  const { credentials: _, ...rules } = relay;
  return { ...rules, credentialsFile: CREDENTIALS_FILE };
}

/** The part of the Secret that changes when another run adopts the Job: base64 by key. */
export const ownersData = (request: RunRequest, wakeUp: WakeUpAddress | null): Record<string, string> =>
  base64(ownersFiles(request, wakeUp));

function ownersFiles({ relay = null }: RunRequest, wakeUp: WakeUpAddress | null): Record<string, Uint8Array> {
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  return {
    ...(relay === null ? {} : { [CREDENTIALS_FILE]: json(relay.credentials) }),
    // Also where there is none: the address of the server before is nobody's now, or somebody else's.
    [WAKE_UP_FILE]: json(wakeUp),
  };
}

const base64 = (contents: Readonly<Record<string, Uint8Array>>): Record<string, string> =>
  Object.fromEntries(Object.entries(contents).map(([key, bytes]) => [key, Buffer.from(bytes).toString("base64")]));

function checkedFileName(name: string, taken: Record<string, unknown>): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,100}$/.test(name))
    throw new RequestError("file_name_invalid", `file name "${name}" is not a valid Secret key`);
  if (name in taken) throw new RequestError("file_name_invalid", `file name "${name}" is used by the runner itself`);
  return name;
}

function checkSize(contents: Record<string, Uint8Array>): void {
  const total = Object.values(contents).reduce((sum, bytes) => sum + bytes.length, 0);
  if (total <= MAX_SECRET_BYTES) return;
  const prompt = contents[STDIN_FILE]?.length ?? 0;
  const others = total - prompt;
  throw new RequestError(
    "prompt_too_large",
    `the prompt has ${prompt} bytes; with ${others} bytes of settings and runner that is ${total - MAX_SECRET_BYTES} bytes more than ` +
      `the ${MAX_SECRET_BYTES} bytes a Kubernetes Secret can hold. Shorten the prompt to at most ${Math.max(0, MAX_SECRET_BYTES - others)} bytes`,
  );
}

/** Owned by its Job, so that it goes with it. */
export function secretManifest(
  request: RunRequest,
  submission: { readonly jobName: string; readonly secretName: string; readonly secretData: Submission["secretData"] },
  jobUid: string,
  wakeUp: WakeUpAddress | null,
): Record<string, unknown> {
  return {
    apiVersion: "v1",
    kind: "Secret",
    type: "Opaque",
    metadata: {
      name: submission.secretName,
      namespace: request.namespace,
      labels: request.labels,
      ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: submission.jobName, uid: jobUid, blockOwnerDeletion: false }],
    },
    data: submission.secretData(wakeUp),
  };
}
