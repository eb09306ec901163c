import type { EarlierSetting } from "@paperclip-k8s/paperclip";

const isGone = (setting: string, text: string, todo = "remove it"): EarlierSetting => ({ setting, kind: "removed", text, todo });
const ofEnvironments = "it came from an execution environment of the host, which these adapters do not use";
const dotted = (setting: string): EarlierSetting => ({
  setting,
  kind: "changed",
  when: (_, raw) => Object.hasOwn(raw, setting) && raw[setting] !== "" && raw[setting] !== null,
  text: "the form's value was ignored; now it is used",
  todo: "check it",
});
const nowActs = (setting: string): EarlierSetting => ({
  setting,
  kind: "changed",
  when: (value, raw) => typeof value === "string" && value.trim() !== "" && !raw.variant,
  text: "it was ignored; now it is given to the CLI as its variant",
  todo: "clear it, unless the model has this variant",
});

/** What the earlier adapters of OpenCode did differently. */
export const earlier: readonly EarlierSetting[] = [
  {
    setting: "agentDbMode",
    kind: "changed",
    when: (value) => value === undefined || value === null || value === "",
    text: "sessions were kept on a claim of the agent's own, or below the shared volume; now on the shared volume, one per task",
    todo: "set it to dedicated_pvc to go on using a claim opencode-db-…",
  },
  {
    setting: "reattachOrphanedJobs",
    kind: "changed",
    when: (value) => value === false,
    text: "the earlier form saved false; with it the live Job of a lost run blocks the next run (k8s_concurrent_run_blocked)",
    todo: "clear it or switch it on",
  },
  nowActs("effort"),
  nowActs("thinkingEffort"),
  dotted("resources.requests.cpu"),
  dotted("resources.requests.memory"),
  dotted("resources.limits.cpu"),
  dotted("resources.limits.memory"),
  {
    setting: "resumeLastSession",
    kind: "removed",
    when: (value) => value === false,
    text: "each run began a new session; now the session that Paperclip stored is resumed",
    todo: "set agentDbMode to ephemeral to begin anew each time",
  },
  isGone("compactThreshold", "OpenCode compacts by its own rule", "set OpenCode's own compaction in its settings, if needed"),
  isGone("envGuardPlugin", "the plugin is gone; a pod has no secrets but the agent's own"),
  isGone("enableDocker", "no Docker runs beside the agent", "use a pod template of the operator's policy, or build images elsewhere"),
  ...["dockerImage", "dockerCpuLimit", "dockerMemoryLimit"].map((key) => isGone(key, "no Docker runs beside the agent")),
  isGone("mcpServers", "tool servers come from Paperclip or from OpenCode's settings", "see docs/configure.md"),
  isGone("providers", "accounts are not rotated", "give the agent its key in env"),
  ...["isolation", "runIsolation", "k8sRunIsolation"].map((key) => isGone(key, "each run has a home and a state of its own anyway")),
  isGone("workspaceVolumeClaim", ofEnvironments, "set dataClaim, and allow it in the policy"),
  isGone("workspaceMountPath", ofEnvironments, "set dataPath, and allow it in the policy"),
  ...["secretsNamespace", "secretRef"].map((key) => isGone(key, ofEnvironments)),
];
