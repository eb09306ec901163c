import { dirname, normalize } from "node:path/posix";
import { type SeenPath, type SharedMount, withVolume } from "@paperclip-k8s/engine";
import { isBelow } from "../../host/context-values.ts";
import { agentHome, outputPath } from "../../host/paths.ts";
import { UnusableVolume } from "../../host/unusable-volume.ts";
import { ConfigError } from "../../settings/config-error.ts";
import { workspaceOf } from "../environment/workspace.ts";
import type { Inherited } from "../inherit/inherited.ts";
import { checkParents } from "./parents.ts";
import { projectsOf } from "./projects.ts";
import { isWorktree, namedSettings, type ScopeInput, type WantedFolder, wantedFolders } from "./wanted.ts";

/** What of the shared volume a run's pod has. */
export interface VolumeScope {
  /** Null = the whole volume. The folder of an attempt's output is added to these. */
  readonly mounts: readonly SharedMount[] | null;
  /** Those of them that the server makes before the pod starts. */
  readonly made: readonly string[];
  readonly warnings: readonly string[];
}

const TIMEOUT_MS = 10_000;

/** Decides what the run's pod mounts, before anything is created; refuses a workspace that it may not have. */
export async function findScope(input: ScopeInput & { readonly inherited: Pick<Inherited, "claim"> }): Promise<VolumeScope> {
  const { mountPath } = input.inherited.claim;
  if (input.policy.volume.mount === "whole") {
    checkOnVolume(input, mountPath);
    if (input.config.filesystemScope === "none") return wholeVolume(input);
    throw new ConfigError("filesystemScope", "cannot be kept: the policy lets pods mount the whole volume (volume.mount: whole)");
  }
  const wanted = onVolume(wantedFolders(input), mountPath);
  const paths = wanted.filter(({ need }) => need === "if there" || need === "named").map(({ path }) => path);
  const seen = await withVolume(mountPath, (volume) => volume.run("lookAt", { paths }, TIMEOUT_MS)).catch((error: Error) => {
    throw new UnusableVolume(`the folders of the run on ${mountPath} cannot be looked at: ${error.message}`, { cause: error });
  });
  return scopeOf(input, wanted, seen, mountPath);
}

/** The wanted folders that are on this volume: a policy may also name folders of others. */
export function onVolume(wanted: readonly WantedFolder[], root: string): WantedFolder[] {
  const whole = wanted.find(({ path }) => isBelow(root, path));
  if (whole !== undefined)
    throw new ConfigError(
      "volume.paths",
      `${whole.path} is the whole volume: in the policy, name folders of it, or set volume.mount to whole`,
    );
  return wanted.filter(({ path }) => isBelow(path, root));
}

/** No folders of its own, as in earlier versions; the bundle is still read-only. */
const wholeVolume = ({ ctx, config, state }: ScopeInput): VolumeScope => ({
  mounts: null,
  made: [agentHome(ctx, config), ...(state.mode === "portable" ? [state.spec.saved] : [])],
  warnings: [],
});

export function scopeOf(input: ScopeInput, wanted: readonly WantedFolder[], seen: readonly SeenPath[], root: string): VolumeScope {
  const kindOf = new Map(seen.map((each) => [each.path, each]));
  const there = wanted.filter((folder) => isThere(folder, kindOf.get(folder.path)));
  const mounts = withoutCovered(there);
  const output = { path: dirname(outputPath(input.ctx, input.config, 1)), readOnly: false };
  checkParents([output, ...mounts], input.policy.volume, input.config);
  checkWorkspace(input, mounts, root);
  checkPromise(input);
  const missing = wanted.filter((folder) => folder.need === "named" && !there.includes(folder));
  return {
    mounts,
    made: there.filter(({ need }) => need === "made").map(({ path }) => path),
    warnings: [
      ...missing.map(({ path }) => `${path}, which the policy's volume.paths names, is no folder on the volume: the pod does not have it`),
      ...unmountedSettings(input, mounts, root),
      ...input.config.filesystemExtraPaths
        .filter(({ path }) => !isMounted(mounts, path))
        .map(
          ({ path }) =>
            `filesystemExtraPaths: ${path} is not in the pod: it is no folder of the policy's volume.paths, or agents can write above it`,
        ),
    ],
  };
}

/** Pods can write on this volume, or could before it was scoped: a link is refused, wherever it leads. */
function isThere({ path, need }: WantedFolder, seen: SeenPath | undefined): boolean {
  if (need === "made" || need === "there") return true;
  if (seen?.kind === "link")
    throw new ConfigError("volume", `${seen.link} is a link, and a pod's mount ${path} must not lead through one: replace it by a folder`);
  return seen?.kind === "folder";
}

/** Each folder once, writable if anybody needs it so, and none that another mount already brings. */
function withoutCovered(folders: readonly WantedFolder[]): SharedMount[] {
  const byPath = new Map<string, boolean>();
  for (const { path, readOnly } of folders) byPath.set(path, readOnly && byPath.get(path) !== false);
  const all = [...byPath].map(([path, readOnly]) => ({ path, readOnly }));
  const brings = (outer: SharedMount, inner: SharedMount): boolean =>
    outer !== inner && isBelow(inner.path, outer.path) && outer.readOnly === inner.readOnly;
  return all.filter((inner) => !all.some((outer) => brings(outer, inner)));
}

/** What the pod of an attempt mounts: the run's folders and the one of its own output. */
export function mountsFor({ mounts }: VolumeScope, output: string): readonly SharedMount[] | null {
  return mounts === null ? null : [{ path: dirname(output), readOnly: false }, ...mounts];
}

export const isMounted = (mounts: readonly SharedMount[] | null, path: string): boolean =>
  mounts === null || mounts.some((mount) => isBelow(normalize(path), mount.path));

/** Whether the pod may write there: of several mounts above a path the innermost counts. */
function isWritable(mounts: readonly SharedMount[] | null, path: string): boolean {
  if (mounts === null) return true;
  const above = mounts.filter((mount) => isBelow(normalize(path), mount.path)).sort((a, b) => b.path.length - a.path.length);
  return above[0]?.readOnly === false;
}

/** AGENT_HOME in the pod: the host's folder if the pod may write there, else the agent's own, which each of its pods has. */
export function homeInPod({ mounts }: Pick<VolumeScope, "mounts">, root: string, given: string, own: string): string {
  return isBelow(normalize(given), root) && isWritable(mounts, given) ? given : own;
}

/**
 * Refuses a workspace that is a part of its project's checkout, where the agent was promised that its pod has its workspace only: the pod
 * has to mount the project's folder whole, because agents can write to it and could put a link in the workspace's place.
 */
function checkPromise(input: ScopeInput): void {
  const { own } = projectsOf(input);
  const cwd = normalize(input.cwd);
  const isPart = own !== null && isBelow(cwd, own) && ![cwd, dirname(cwd)].includes(own);
  if (input.config.filesystemScope === "none" || !(isPart || isWorktree(input.ctx))) return;
  const whole = own === null ? "the repository that it belongs to" : own;
  throw new ConfigError("filesystemScope", `cannot be kept: beside the workspace ${cwd} the pod would have to have ${whole}`);
}

/** Refuses a working folder that the pod does not mount: the CLI would start in an empty folder that is lost with the pod. */
function checkWorkspace(input: ScopeInput, mounts: readonly SharedMount[], root: string): void {
  const { ctx, cwd, config } = input;
  checkOnVolume(input, root);
  if (!isBelow(normalize(cwd), root) || isMounted(mounts, cwd)) return;
  const field = config.cwd === cwd ? "cwd" : "workspace";
  const without = field === "cwd" ? `. Without cwd the agent works in ${workspaceOf(ctx.context, null).cwd ?? agentHome(ctx, config)}` : "";
  const own = mounts.filter(({ readOnly }) => !readOnly).map(({ path }) => path);
  throw new ConfigError(
    field,
    `${cwd} is not among the folders that this agent's pods mount (${own.join(", ")}). Agents can change it themselves, so only the ` +
      `operator can allow it, in the policy: volume: { paths: [{ path: ${JSON.stringify(normalize(cwd))}, readOnly: false }] }${without}`,
  );
}

/** Refuses a workspace of the host's that no pod can have. A folder that an agent's own setting names may be one of its image. */
function checkOnVolume(input: ScopeInput, root: string): void {
  const { ctx, cwd, config } = input;
  if (isBelow(normalize(cwd), root) || cwd !== workspaceOf(ctx.context, config.cwd).cwd || isInTemplate(input)) return;
  throw new ConfigError("workspace", elsewhere(cwd, root));
}

const elsewhere = (cwd: string, root: string): string =>
  `${cwd} is not on the shared volume at ${root}, so the pod would begin in an empty folder. Move the project's folder onto the volume, ` +
  "or give the project a repository instead of a folder, so that Paperclip checks it out there";

/** Whether the operator's pod template has a volume there. */
function isInTemplate({ config, policy: { force, podTemplates }, cwd }: ScopeInput): boolean {
  const name = force.podTemplate ?? config.podTemplate;
  const template = name !== null && Object.hasOwn(podTemplates, name) ? podTemplates[name] : undefined;
  return template?.agent.volumeMounts.some(({ mountPath }) => isBelow(normalize(cwd), mountPath)) ?? false;
}

/** Settings that name something on the volume which the pod will not find. */
function unmountedSettings(input: ScopeInput, mounts: readonly SharedMount[], root: string): string[] {
  return namedSettings(input).flatMap(({ field, path }) => {
    if (!isBelow(path, root) || isMounted(mounts, path)) return [];
    return [`${field} names ${path}, which the pod does not mount: the operator can allow it in the policy, under volume.paths`];
  });
}
