import { type MissingProgram, type RunOutcome, type RunTools, toolPath } from "@paperclip-k8s/engine";
import type { CliPlan } from "../../agent-cli/agent-cli.ts";
import { ConfigError } from "../../settings/config-error.ts";
import type { Attempt, RunInputs } from "../attempt.ts";
import { rememberedTools } from "./remembered.ts";

// Whether Node and the agent's CLI come from its own image, or from the operator's tools image.

/** Why an attempt has the tools. */
export type ToolsReason = "asked-for" | MissingProgram;

export type ToolsParts = Pick<RunInputs, "cli" | "config" | "policy" | "inherited">;

/** What is known before the first attempt; null = the image is tried as it is. */
export async function chooseTools(parts: ToolsParts): Promise<ToolsReason | null> {
  const { config, policy } = parts;
  if (config.tools === "never") return null;
  if (policy.tools.image !== null) return config.tools === "always" ? "asked-for" : rememberedTools(parts);
  if (config.tools === "always") throw new ConfigError("tools", `always needs a tools image; ${OFFER}`);
  return null;
}

/** For a run whose image lacks something, where there is no tools image. */
const OFFER =
  "the operator's policy offers none. It does with these lines: `tools: { image: <your tools image>, mount: copy }` (docs/images.md says how to build it)";

const LACKS: Readonly<Record<MissingProgram, string>> = {
  "runtime-missing": "has no Node",
  "runtime-too-old": "has a Node that is too old",
  "cli-missing": "does not have the agent's CLI",
};

const isMissing = (cause: string): cause is MissingProgram => Object.hasOwn(LACKS, cause);

/** What the image of an attempt lacks; null = the attempt started, or failed for another reason. */
export const missingOf = (outcome: RunOutcome): MissingProgram | null =>
  outcome.kind === "never-started" && isMissing(outcome.cause) ? outcome.cause : null;

/** Whether the tools have what the image lacks. They have no program that an agent's settings name. */
export function toolsHelp(missing: MissingProgram, { config, policy }: Pick<ToolsParts, "config" | "policy">): boolean {
  return config.tools === "auto" && policy.tools.image !== null && (missing !== "cli-missing" || config.command === null);
}

/** Why the tools are used, for the log and the Test button. */
export function toolsNote(reason: ToolsReason, { policy, inherited }: Pick<ToolsParts, "policy" | "inherited">): string {
  const why = reason === "asked-for" ? "as the setting Agent tools (tools) says" : `because image ${inherited.image} ${LACKS[reason]}`;
  return `Node and the agent's CLI come from tools image ${policy.tools.image}, ${why}`;
}

/** What to do about an image that lacks something, when nothing more is tried. */
export function missingAdvice(missing: MissingProgram, { tools, inputs }: Pick<Attempt, "tools" | "inputs">): string {
  const { config, policy, inherited } = inputs;
  if (tools !== null) return `It was looked for in tools image ${policy.tools.image}`;
  const image = `Image ${inherited.image} ${LACKS[missing]}`;
  const needs = missing === "cli-missing" ? "the CLI" : "Node ≥ 18, which runs the adapter's runner,";
  if (missing === "cli-missing" && config.command !== null) return `The setting Command (command) names that program`;
  if (policy.tools.image === null) return `${image}: use one with ${needs} or a tools image; ${OFFER}`;
  return `${image}: use one with ${needs} or set Agent tools (tools) to auto, to have it from tools image ${policy.tools.image}`;
}

/** Signs that the cluster does not know image volumes, or that the node lets no program be started from them. */
const NO_IMAGE_VOLUMES = /must specify a volume type|permission denied/i;

/** What to do where the tools image cannot be mounted; empty = that is not the reason. */
export function mountAdvice(message: string, { tools, inputs: { policy } }: Pick<Attempt, "tools" | "inputs">): string {
  if (tools === null || policy.tools.mount !== "image-volume" || !NO_IMAGE_VOLUMES.test(message)) return "";
  return ". The cluster may not let programs be started from image volumes: `tools: { mount: copy }` in the operator's policy copies them instead";
}

/** The command line with the tools' CLI, unless the agent's settings name another program. */
export function withTools(argv: CliPlan["argv"], tools: ToolsReason | null, { command }: RunInputs["config"]): CliPlan["argv"] {
  const [program, ...args] = argv;
  return tools === null || command !== null ? argv : [toolPath(program), ...args];
}

/** What the engine needs of it; null = everything is in the image. */
export function runTools({ tools, inputs: { cli, config, policy } }: Attempt, program: string): RunTools | null {
  const { image, mount } = policy.tools;
  if (tools === null || image === null) return null;
  // A command of the agent's own may start the CLI in its turn.
  const own = config.command === null ? program : cli.state?.version(null)[0];
  return { image, mount, programs: own === undefined ? [] : [own.slice(own.lastIndexOf("/") + 1)] };
}
