import { basename } from "node:path/posix";
import type { BuiltInSetting } from "../agent-cli/built-in-type.ts";
import { isBelow, isRecord, textOf } from "../host/context-values.ts";
import { quote } from "../settings/config-error.ts";

const kept = (key: string, doc: string): BuiltInSetting => ({ key, becomes: "kept", doc });
const promise = (key: string, doc: string): BuiltInSetting => ({ key, becomes: "kept or refused", doc });
const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
const host = (key: string, doc: string): BuiltInSetting => ({ key, becomes: "host", doc });

/** A setting that has no meaning in a pod. Its usual values are left out without a word: the host's form writes them into every agent. */
export const leftOut = (key: string, doc: string, usual: readonly unknown[] = []): BuiltInSetting => ({
  key,
  becomes: "left out",
  doc,
  translate: (value) => (usual.includes(value) ? {} : { warning: `${quote(value)} is left out: ${doc}` }),
});

/** The agent's variables without those that name files of the server's own disk, where the CLI would look for its settings in vain. */
export const foldersOfServer = (names: readonly string[]): BuiltInSetting => ({
  key: "env",
  becomes: "mapped",
  doc: `as it is, in the run's Secret, but ${names.join(", ")} only if on the shared volume`,
  translate(value, { dataPath }) {
    if (!isRecord(value)) return { set: { env: value } };
    const isServers = ([name, item]: [string, unknown]): boolean =>
      names.includes(name) && typeof item === "string" && item.startsWith("/") && !isBelow(item, dataPath);
    const entries = Object.entries(value);
    const lost = entries.filter(isServers).map(([name]) => name);
    const set = { env: Object.fromEntries(entries.filter((entry) => !isServers(entry))) };
    return lost.length === 0 ? { set } : { set, warning: `${lost.join(", ")} left out: a path on the server's own disk, which no pod has` };
  },
});

/** Settings that agents of every built-in type can have. */
export const commonSettings: readonly BuiltInSetting[] = [
  {
    key: "cwd",
    becomes: "mapped",
    doc: "used where Paperclip gives no workspace, if it is the agent's own folder or in the policy's `volume.paths`, else refused; a folder of the server's own disk is left out with a warning, and the agent works in its own folder",
    translate(value, { dataPath, policy }) {
      const folder = textOf(value);
      const places = [dataPath, ...policy.volume.paths.map(({ path }) => path)];
      if (folder === null || places.some((place) => isBelow(folder, place))) return { set: { cwd: value } };
      return { warning: `${quote(folder)} is left out: it is not on the shared volume (${dataPath}), so no pod has it` };
    },
  },
  {
    key: "command",
    becomes: "mapped",
    doc: "a program of the image; of a path on the server's own disk the last part counts, with a warning",
    translate(value, { raw, dataPath }) {
      const command = textOf(value);
      // Who names an image knows what is in it.
      const isImages = textOf(raw.image) !== null;
      if (command === null || !command.startsWith("/") || isImages || isBelow(command, dataPath)) return { set: { command: value } };
      const program = basename(command);
      return { set: { command: program }, warning: `${quote(command)} is a path on the server: the pod starts ${program} of its image` };
    },
  },
  kept("model", "as it is"),
  {
    key: "extraArgs",
    becomes: "mapped",
    doc: "as they are; an empty list counts as not set",
    translate: (value) => (isEmptyList(value) ? {} : { set: { extraArgs: value } }),
  },
  kept("args", "as `extraArgs`, where that is not set"),
  kept("env", "as it is, in the run's Secret, but for what names the CLI's files on the server's own disk: see each type"),
  kept("promptTemplate", "as it is"),
  kept("bootstrapPromptTemplate", "as it is"),
  promise(
    "instructionsFilePath",
    "read if it is in Paperclip's folders for the agent and its company, or in the policy's `allow.files`, else refused; also `instructionsRootPath`, `instructionsEntryFile` and `instructionsBundleMode`",
  ),
  kept("dangerouslySkipPermissions", "as it is"),
  kept("timeoutSec", "as it is"),
  kept("graceSec", "as it is; 60 where it is not set"),
  promise(
    "filesystemScope",
    "`workspace` is kept by the pod: it has the agent's own folders, its company's skills and the folder of the run's project. Refused for a worktree or another part of a checkout, which a pod cannot have alone, and where the policy mounts the whole volume",
  ),
  kept(
    "filesystemExtraPaths",
    "those in the policy's `volume.paths`, read-only unless `access` is `rw` and the policy lets agents write there; the others, and those below a folder that agents can write to, are named in a warning",
  ),
  leftOut("filesystemSandboxCommand", "the pod is the sandbox"),
  promise(
    "networkScope",
    "refused, unless the policy's `allow.networkScopes` says that the cluster's network policies keep it; its pods have the label `paperclip.io/network-scope`",
  ),
  {
    key: "networkAllowlist",
    becomes: "mapped",
    doc: "with `networkScope` `allowlist`: the refusal names the hosts, which the cluster's network policies have to allow; otherwise left out with a warning",
    translate(value, { raw }) {
      if (raw.networkScope === "allowlist" || isEmptyList(value)) return { set: { networkAllowlist: value } };
      return { warning: 'left out: it restricts nothing unless networkScope is "allowlist"' };
    },
  },
  host("workspaceStrategy", "the host prepares the workspace before the run. A workspace that is not on the shared volume is refused"),
  host("workspaceRuntime", "the host's own"),
  host("paperclipSkillSync", "the skills that the host gives to the run"),
  host("managedAiConnection", "the host's mark of a managed account; its key is in `env`"),
  leftOut("helloProbeTimeoutSec", "the Test button starts a pod and has its own time limit"),
  leftOut("terminalResultCleanupGraceMs", "the runner ends what the CLI leaves behind"),
];
