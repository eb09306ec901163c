import type { AgentCli } from "./agent-cli.ts";

/** What an agent reads that hires another: the settings of this adapter in plain words. */
export function configurationDoc(cli: AgentCli): string {
  return `# ${cli.label} (${cli.type})

Runs ${cli.container} as one Kubernetes Job per run.

Required: namespace, image (holds ${cli.container} and Node), dataClaim (PersistentVolumeClaim that server and pods share; mounted at dataPath).
Usual: model, env (provider keys), timeoutSec (0 = no limit), graceSec (60), resources.requests.cpu/memory (1000m, 2Gi), resources.limits.cpu/memory (4000m, 8Gi).
Others: kubeconfig (path; else in-cluster), dataPath (PAPERCLIP_HOME or /paperclip), cwd, extraArgs, effort, promptTemplate, dangerouslySkipPermissions (true),
imagePullPolicy (IfNotPresent), serviceAccountName, scheduleTimeoutSec (600), maxRunSec (86400), ttlSecondsAfterFinished (86400), retainJobs (false).
`;
}
