import { ConfigError } from "./config-error.ts";
import { absolutePath, environment, flag, oneOf, quantity, requiredText, text, texts, wholeNumber } from "./config-values.ts";

/** An agent's settings, checked and complete. */
export interface AgentConfig {
  readonly model: string | null;
  readonly variant: string | null;
  readonly extraArgs: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
  readonly promptTemplate: string | null;
  readonly dangerouslySkipPermissions: boolean;
  readonly kubeconfig: string | null;
  readonly namespace: string;
  readonly image: string;
  readonly imagePullPolicy: "Always" | "IfNotPresent" | "Never";
  readonly serviceAccountName: string | null;
  readonly resources: {
    readonly requests: { readonly cpu: string; readonly memory: string };
    readonly limits: { readonly cpu: string; readonly memory: string };
  };
  /** Mount path of the volume that server and pods share, and the claim behind it. */
  readonly dataPath: string;
  readonly dataClaim: string;
  readonly instanceId: string;
  readonly timeoutSec: number;
  readonly graceSec: number;
  readonly maxRunSec: number;
  readonly scheduleTimeoutSec: number;
  readonly ttlSecondsAfterFinished: number;
  readonly retainJobs: boolean;
}

const DAY = 86_400;
const YEAR = 365 * DAY;

/** Reads an agent's adapterConfig; throws a ConfigError that names the field. */
export function parseConfig(raw: Readonly<Record<string, unknown>>, serverEnv: NodeJS.ProcessEnv): AgentConfig {
  return {
    model: text(raw, "model"),
    variant: text(raw, "effort") ?? text(raw, "thinkingEffort") ?? text(raw, "variant"),
    extraArgs: texts(raw, "extraArgs"),
    env: environment(raw, "env"),
    cwd: absolutePath(raw, "cwd"),
    promptTemplate: text(raw, "promptTemplate"),
    dangerouslySkipPermissions: flag(raw, "dangerouslySkipPermissions", true),
    kubeconfig: absolutePath(raw, "kubeconfig"),
    namespace: namespaceName(requiredText(raw, "namespace", "name the namespace in which agents run")),
    image: requiredText(raw, "image", "name the container image that holds the agent CLI and Node"),
    imagePullPolicy: oneOf(raw, "imagePullPolicy", ["IfNotPresent", "Always", "Never"]),
    serviceAccountName: text(raw, "serviceAccountName"),
    resources: {
      requests: { cpu: quantity(raw, "resources.requests.cpu", "1000m"), memory: quantity(raw, "resources.requests.memory", "2Gi") },
      limits: { cpu: quantity(raw, "resources.limits.cpu", "4000m"), memory: quantity(raw, "resources.limits.memory", "8Gi") },
    },
    dataPath: absolutePath(raw, "dataPath") ?? serverEnv.PAPERCLIP_HOME ?? "/paperclip",
    dataClaim: requiredText(raw, "dataClaim", "name the PersistentVolumeClaim that server and agent pods share"),
    instanceId: serverEnv.PAPERCLIP_INSTANCE_ID ?? "default",
    timeoutSec: wholeNumber(raw, "timeoutSec", { default: 0, max: YEAR }),
    graceSec: wholeNumber(raw, "graceSec", { default: 60, max: DAY }),
    maxRunSec: wholeNumber(raw, "maxRunSec", { default: DAY, max: YEAR }),
    scheduleTimeoutSec: wholeNumber(raw, "scheduleTimeoutSec", { default: 600, max: DAY }),
    ttlSecondsAfterFinished: wholeNumber(raw, "ttlSecondsAfterFinished", { default: DAY, max: YEAR }),
    retainJobs: flag(raw, "retainJobs", false),
  };
}

function namespaceName(value: string): string {
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(value)) throw new ConfigError("namespace", `"${value}" is not a valid namespace name`);
  return value;
}
