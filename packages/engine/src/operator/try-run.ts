import { randomBytes } from "node:crypto";
import { runnerText } from "@paperclip-k8s/runner/text";
import { tryJob } from "../kube/calls.ts";
import { type ConnectOptions, connect } from "../kube/connection.ts";
import { buildSubmission } from "../manifest/submission.ts";
import type { RunRequest } from "../request.ts";

/** Has the API server look at the very Job this run would make, without making it: throws its refusal, or returns its warnings. */
export async function tryRun(request: RunRequest, cluster: ConnectOptions): Promise<readonly string[]> {
  const { job } = buildSubmission(request, randomBytes(12).toString("hex"), runnerText);
  return tryJob(await connect(cluster), request.namespace, job, { timeoutMs: 10_000, retry: { attempts: 2 } });
}
