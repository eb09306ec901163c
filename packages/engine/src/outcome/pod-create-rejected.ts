import { denialReason } from "./kubernetes-texts.ts";
import type { Trouble } from "./startup-problem.ts";
import type { RunState } from "./state.ts";

/** A Job without a pod: only the events of the Job say who refused it. */
export function denied(state: RunState): Trouble | null {
  const { job, events, acceptedAt, identity } = state;
  if (job === null || job.suspended || job.active > 0 || state.jobGoneAt !== null || acceptedAt === null) return null;
  const told = events.findLast((event) => event.reason === "FailedCreate");
  if (told === undefined) return null;
  const reason = denialReason(told.message);
  const { remedy, permanent } = whatHelps(reason, identity.namespace);
  const text = `the Job made no pod: ${reason}${remedy === "" ? "" : `; ${remedy}`}`;
  return { cause: "no-pod", text, message: text, permanent, since: acceptedAt, patience: "noPod" };
}

/** A full quota may have room again; the rest stays as it is until somebody changes it. */
function whatHelps(reason: string, namespace: string): { readonly remedy: string; readonly permanent: boolean } {
  const quota = reason.match(/^exceeded quota: ([^,]+)/)?.[1];
  if (quota !== undefined) return { remedy: `raise or free ResourceQuota ${quota} of namespace ${namespace}`, permanent: false };
  const unset = reason.match(/must specify (\S+)/)?.[1]?.replace(/[,:]$/, "");
  if (unset !== undefined) return { remedy: `set resources.${unset}`, permanent: true };
  const account = reason.match(/serviceaccount "([^"]+)" not found/i)?.[1];
  if (account !== undefined)
    return { remedy: `create ServiceAccount ${account} in namespace ${namespace}, or change serviceAccountName`, permanent: true };
  if (reason.startsWith("violates PodSecurity"))
    return { remedy: `namespace ${namespace} must allow it (label pod-security.kubernetes.io/enforce)`, permanent: true };
  const [, bound, resource] = reason.match(/^(maximum|minimum) (\S+) usage per/) ?? [];
  if (bound !== undefined)
    return { remedy: `change resources.${bound === "maximum" ? "limits" : "requests"}.${resource}`, permanent: true };
  return { remedy: "", permanent: false };
}
