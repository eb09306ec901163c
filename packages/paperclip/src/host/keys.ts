import type { RunRequest } from "@paperclip-k8s/engine";

// Labels and annotations of a run's objects: labels select, annotations are compared.
export const LABEL = {
  managedBy: "app.kubernetes.io/managed-by",
  component: "app.kubernetes.io/component",
  agentId: "paperclip.io/agent-id",
  runId: "paperclip.io/run-id",
  companyId: "paperclip.io/company-id",
  adapterType: "paperclip.io/adapter-type",
  taskId: "paperclip.io/task-id",
  sessionId: "paperclip.io/session-id",
  pvcType: "paperclip.io/pvc-type",
  networkScope: "paperclip.io/network-scope",
} as const;

export const ANNOTATION = {
  adapterType: "paperclip.io/adapter-type",
  agentId: "paperclip.io/agent-id",
  agentName: "paperclip.io/agent-name",
  companyId: "paperclip.io/company-id",
  taskId: "paperclip.io/task-id",
  sessionId: "paperclip.io/session-id",
  runId: "paperclip.io/run-id",
  nonce: "paperclip.io/submit-nonce",
  runner: "paperclip.io/runner",
  exclusive: "paperclip.io/exclusive-key",
  fingerprint: "paperclip.io/session-ground",
  output: "paperclip.io/output",
  firstRun: "paperclip.io/first-run-id",
  adoptedFrom: "paperclip.io/adopted-from",
  messages: "paperclip.io/wake-inputs",
  records: "paperclip.io/records",
  timeLimit: "paperclip.io/time-limit-seconds",
} as const;

/** Stands in what our adapters tell the host's pages: the host lists a package that it could not load as if it had. */
export const PROVIDED_BY = "paperclip-k8s";

/** All Jobs and Pods of all our adapters: one list-watch serves them. */
export const SELECTOR: string = `${LABEL.managedBy}=paperclip,${LABEL.component}=agent-job`;

/** What the engine writes and compares. */
const { runId, nonce, runner, exclusive, output, firstRun, adoptedFrom, records, timeLimit } = ANNOTATION;
export const RUN_KEYS: RunRequest["keys"] = { runId, nonce, runner, exclusive, output, firstRun, adoptedFrom, records, timeLimit };
