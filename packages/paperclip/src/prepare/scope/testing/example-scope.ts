import { outputPath } from "../../../host/paths.ts";
import { DEFAULT_POLICY, type PolicyVolume } from "../../../policy/policy.ts";
import { parseConfig } from "../../../settings/parse.ts";
import { exampleCli } from "../../../testing/example-cli.ts";
import { type HostCall, hostContext } from "../../../testing/host-context.ts";
import { workingFolder } from "../../environment/workspace.ts";
import { keptState } from "../../state/kept-state.ts";
import { mountsFor, onVolume, scopeOf } from "../scope.ts";
import { type ScopeInput, type WantedFolder, wantedFolders } from "../wanted.ts";

export const ROOT = "/paperclip";
export const INSTANCE = `${ROOT}/instances/default`;

export interface ExampleRun extends Pick<HostCall, "agent" | "company" | "config" | "context" | "taskKey"> {
  readonly volume?: Partial<PolicyVolume>;
  readonly bundle?: ScopeInput["bundle"];
  /** What is on the volume; everything unless set. */
  readonly isThere?: (folder: WantedFolder) => boolean;
}

/** What a run's input for its scope is, and its scope, without a volume to look at. */
export function exampleScope({ volume, bundle = null, isThere = () => true, ...call }: ExampleRun = {}) {
  const { ctx } = hostContext({ agent: "agent-1", company: "company-1", taskKey: "task-1", runId: "run-1", ...call });
  const config = parseConfig({ namespace: "agents", dataPath: ROOT, ...call.config }, {}, exampleCli);
  const policy = { ...DEFAULT_POLICY, volume: { ...DEFAULT_POLICY.volume, ...volume } };
  const state = keptState({ ctx, cli: exampleCli, config });
  const input: ScopeInput = { ctx, config, policy, bundle, state, seeds: { mounts: [] }, cwd: workingFolder({ ctx, config, policy }) };
  const wanted = onVolume(wantedFolders(input), ROOT);
  const seen = wanted.map((each) => ({ path: each.path, kind: isThere(each) ? ("folder" as const) : ("missing" as const), link: null }));
  return { input, wanted, ...scopeOf(input, wanted, seen, ROOT) };
}

/** What the pod of a run mounts, its output folder included: writable ones as they are, others behind "ro ". */
export function mountsOf(run: ExampleRun = {}): string[] {
  const { input, ...scope } = exampleScope(run);
  const mounts = mountsFor(scope, outputPath(input.ctx, input.config, 1)) ?? [];
  return mounts.map(({ path, readOnly }) => `${readOnly ? "ro " : ""}${path}`);
}
