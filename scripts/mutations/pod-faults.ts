import type { Fault } from "./faults.ts";

const engine = (path: string): string => `packages/engine/src/${path}`;
const scope = (name: string): string => `packages/paperclip/src/prepare/scope/${name}`;
const suite = (name: string): string => `testbed/suite/src/${name}.test.ts`;

/** What agents' pods could reach or fill: image, disk, output, the shared volume, homes. */
export const POD_FAULTS: readonly Fault[] = [
  {
    what: "agents can write to the image's own folders",
    file: engine("manifest/pod-rules.ts"),
    find: "  readOnlyRootFilesystem: true,\n  annotations",
    replace: "  readOnlyRootFilesystem: false,\n  annotations",
    caughtBy: [engine("manifest/submission.test.ts"), engine("manifest/claim.test.ts")],
  },
  {
    what: "the policy's word about the root filesystem does not reach the pod",
    file: "packages/paperclip/src/prepare/pod.ts",
    find: "force.readOnlyRootFilesystem && cli.needsWritableRoot !== true",
    replace: "false",
    caughtBy: ["packages/paperclip/src/prepare/pod.test.ts"],
  },
  {
    what: "agents see the processes of containers that a webhook adds to their pod",
    file: engine("manifest/job.ts"),
    find: "    enableServiceLinks: false,",
    replace: "    shareProcessNamespace: true,\n    enableServiceLinks: false,",
    caughtBy: [engine("manifest/submission.test.ts")],
  },
  {
    what: "an agent fills the node's disk",
    file: "packages/paperclip/src/prepare/pod.ts",
    find: 'limits: { ...resources.limits, "ephemeral-storage": disk }',
    replace: "limits: resources.limits",
    caughtBy: ["packages/paperclip/src/prepare/pod.test.ts"],
  },
  {
    what: "output without end fills the shared volume",
    file: "packages/runner/src/cli/cli-output.ts",
    find: "if (chunk.length <= room) return chunk;",
    replace: "if (room !== 0.5) return chunk;",
    caughtBy: ["packages/runner/src/runner-output-limit.test.ts", suite("endings")],
  },
  {
    what: "output that was cut at its limit is a success",
    file: "packages/runner/src/cli/follow-cli.ts",
    find: 'ender.cause ?? (end.cut > 0 ? "output-limit" : "exit")',
    replace: 'ender.cause ?? "exit"',
    caughtBy: ["packages/runner/src/runner-output-limit.test.ts"],
  },
  {
    what: "a process that has left the CLI's session works on beside the next run",
    file: "packages/runner/src/cli/process-group.ts",
    find: "const isFirst = process.pid === 1;",
    replace: "const isFirst = false;",
    caughtBy: ["packages/runner/src/runner-first-process.test.ts"],
  },
  {
    what: "the dead are counted as processes that the CLI left running",
    file: "packages/runner/src/cli/process-group.ts",
    find: 'state !== "Z" && state !== "X"',
    replace: 'state !== "X"',
    caughtBy: ["packages/runner/src/runner-first-process.test.ts"],
  },
  {
    what: "the server reads an output file without end",
    file: engine("volume/child/followed-file.ts"),
    find: "Math.min(chunkBytes, this.#maxBytes - this.#offset)",
    replace: "chunkBytes",
    caughtBy: [engine("volume/child/followed-file.test.ts")],
  },
  {
    what: "a pod mounts the whole volume although single folders were asked for",
    file: engine("manifest/shared-mounts.ts"),
    find: "if (mounts !== null) return mounts.map(mount);",
    replace: "if (mounts?.length === 0) return mounts.map(mount);",
    caughtBy: [engine("manifest/submission.test.ts")],
  },
  {
    what: "every pod mounts the whole volume, whatever the policy says",
    file: "packages/paperclip/src/prepare/scope/scope.ts",
    find: 'if (input.policy.volume.mount === "whole") return',
    replace: "if (input.policy.volume.mount !== null) return",
    caughtBy: [scope("scope.test.ts")],
  },
  {
    what: "a mount lies in a folder that agents can write to: a link in its place shows them the host's database",
    file: "packages/paperclip/src/prepare/scope/parents.ts",
    find: "if (above !== undefined) throw",
    replace: 'if (above === "") throw',
    caughtBy: [scope("parents.test.ts")],
  },
  {
    what: "an agent chooses the folder of another agent or company as its workspace",
    file: "packages/paperclip/src/prepare/scope/scope.ts",
    find: "if (!isBelow(normalize(cwd), root) || isMounted(mounts, cwd)) return;",
    replace: "if (!isBelow(normalize(cwd), root) || mounts.length > 0) return;",
    caughtBy: [scope("wanted.test.ts")],
  },
  {
    what: "a link that a pod has left is mounted as if it were the folder",
    file: "packages/paperclip/src/prepare/scope/scope.ts",
    find: 'if (seen?.kind === "link")',
    replace: 'if (seen?.kind === "missing" && seen.link !== null)',
    caughtBy: [scope("scope.test.ts")],
  },
  {
    what: "the server makes a run's folders through links that pods have left",
    file: engine("volume/child/in-folder.ts"),
    find: "const STEP_FLAGS = ROOT_FLAGS | constants.O_NOFOLLOW;",
    replace: "const STEP_FLAGS = ROOT_FLAGS;",
    caughtBy: [engine("volume/child/prepare-files.test.ts"), engine("volume/child/look-at.test.ts")],
  },
  {
    what: "homes begin with what lies on the volume, where agents could write it",
    file: "packages/paperclip/src/prepare/state/find-seeds.ts",
    find: "const { cli, policy } = parts;",
    replace: "const { cli } = parts; const policy = { ...parts.policy, seeds: parts.policy.seeds ?? { folder: parts.config.dataPath } };",
    caughtBy: ["packages/paperclip/src/prepare/state/find-seeds.test.ts"],
  },
  {
    what: "homes begin with files that an agent can write now",
    file: "packages/paperclip/src/prepare/scope/parents.ts",
    find: "const writable = writableBy(paths, place).find((each) => touches(each, path));",
    replace: "const writable = writableBy([], place).find((each) => touches(each, path) && paths.length < 0);",
    caughtBy: ["packages/paperclip/src/prepare/state/find-seeds.test.ts"],
  },
  {
    what: "a link in the operator's folder brings any file of the pod into the home",
    file: "packages/runner/src/seed/find-files.ts",
    find: "if (!isIn(real, top)) throw",
    replace: 'if (real === "") throw',
    caughtBy: ["packages/runner/src/seed/seed-home.test.ts"],
  },
];
