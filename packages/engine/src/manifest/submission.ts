import type { WakeUpAddress } from "@paperclip-k8s/runner/wake-up";
import type { RunRequest } from "../request.ts";
import { runFiles } from "../request.ts";
import { deadlineSeconds, stopGraceSec } from "./deadlines.ts";
import { jobManifest } from "./job.ts";
import { jobName, secretName } from "./names.ts";
import { secretData } from "./secret.ts";

/** Everything a run creates, built before the first request: a request that cannot be run fails before anything exists. */
export interface Submission {
  readonly jobName: string;
  /** Which of the key's names that is, from 1. */
  readonly nthName: number;
  readonly secretName: string;
  readonly nonce: string;
  /** Built when it is needed, as the Secret's data is: kept, they would be most of a run's memory. */
  readonly job: () => Readonly<Record<string, unknown>>;
  /** Base64 by key; the Secret itself needs the Job's uid. */
  readonly secretData: (wakeUp?: WakeUpAddress | null) => Readonly<Record<string, string>>;
  readonly files: ReturnType<typeof runFiles>;
  readonly deadlineSeconds: number;
  readonly stopGraceSec: number;
}

/** The server's own is not known yet. */
const LONGEST_ADDRESS: WakeUpAddress = { address: "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", port: 65_535 };

export function buildSubmission(request: RunRequest, nonce: string, runnerText: string, nthName = 1): Submission {
  const name = jobName(request.name, nthName);
  const secret = secretName(name, nonce);
  const files = runFiles(request.output.path);
  const data: Submission["secretData"] = (wakeUp = null) => secretData(request, { nonce, files, runnerText, wakeUp });
  const job = () => jobManifest(request, { jobName: name, secretName: secret, nonce });
  // Fails now if a Secret cannot hold it, or a Job cannot be made of it.
  data(LONGEST_ADDRESS);
  job();
  return {
    jobName: name,
    nthName,
    secretName: secret,
    nonce,
    job,
    secretData: data,
    files,
    deadlineSeconds: deadlineSeconds(request),
    stopGraceSec: stopGraceSec(request.limits),
  };
}
