import type { RunRequest, RunTools } from "../request.ts";
import { containerSecurity } from "./pod-rules.ts";

// Programs that the run's image need not have. They come from an image of their own, and are changed so that they start in any image.

/** Where pods have the tools: the paths of loader and libraries are built into the programs. */
export const TOOLS_MOUNT = "/opt/agent-tools";
export const TOOLS_VOLUME = "agent-tools";
const NODE = "node";
/** `?`: copied if the tools have it (copy-tools.ts). A CLI may need a shell that small images lack. */
const OPTIONAL_SHELL = "bash?";
/** Where the init container sees the folder that it fills: at the other path it has its own programs. */
const COPY_MOUNT = "/agent-tools-copy";
/** Node and one CLI, several times over. */
const COPY_SIZE = "4Gi";

const toolsFolder = `${TOOLS_MOUNT}/bin`;
export const toolPath = (name: string): string => `${toolsFolder}/${name}`;

/** The program that runs the runner. */
export function runtimeOf({ container, tools }: Pick<RunRequest, "container" | "tools">): readonly [string, ...string[]] {
  return tools == null ? container.runtime : [toolPath(NODE)];
}

/** Folders in which the CLI's own programs are found when the image has none of that name. */
export const toolFolders = ({ tools }: Pick<RunRequest, "tools">): readonly string[] => (tools == null ? [] : [toolsFolder]);

export function toolsVolumes({ tools }: RunRequest): Record<string, unknown>[] {
  if (tools == null) return [];
  const { image: reference } = tools;
  const source = tools.mount === "copy" ? { emptyDir: { sizeLimit: COPY_SIZE } } : { image: { reference, pullPolicy: PULL } };
  return [{ name: TOOLS_VOLUME, ...source }];
}

const PULL = "IfNotPresent";

export const toolsMounts = ({ tools }: RunRequest) =>
  tools == null ? [] : [{ name: TOOLS_VOLUME, mountPath: TOOLS_MOUNT, readOnly: true }];

/** The step that copies the tools into the pod, where they are not mounted as they are. */
export function toolsSteps(request: RunRequest): { readonly initContainers?: readonly Record<string, unknown>[] } {
  const { tools } = request;
  return tools == null || tools.mount !== "copy" ? {} : { initContainers: [copyStep(request, tools)] };
}

/** Under the same rules as the run itself, started by the tools' own Node: their image has no shell. */
function copyStep(request: RunRequest, { image, programs }: RunTools): Record<string, unknown> {
  return {
    name: TOOLS_VOLUME,
    image,
    imagePullPolicy: PULL,
    command: [toolPath(NODE), `${TOOLS_MOUNT}/copy.cjs`, COPY_MOUNT, NODE, ...programs, OPTIONAL_SHELL],
    resources: request.resources,
    terminationMessagePolicy: "FallbackToLogsOnError",
    securityContext: containerSecurity(request),
    volumeMounts: [{ name: TOOLS_VOLUME, mountPath: COPY_MOUNT }],
  };
}
