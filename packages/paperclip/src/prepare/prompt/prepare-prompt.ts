import type { PromptBundle } from "../../agent-cli/agent-cli.ts";
import { recordOf, textOf } from "../../host/context-values.ts";
import type { ExecutionContext } from "../../host/types.ts";
import type { Policy } from "../../policy/policy.ts";
import type { AgentConfig } from "../../settings/agent-config.ts";
import { readSkills } from "../skills/read-skills.ts";
import { connectionInstructions } from "./connection-instructions.ts";
import { filePlaces } from "./file-places.ts";
import { readInstructions } from "./instructions.ts";
import { withoutTokens } from "./redact.ts";
import { ServerFiles } from "./server-files.ts";

export interface PromptInput {
  readonly ctx: Pick<ExecutionContext, "runId" | "agent" | "context" | "config" | "authToken">;
  readonly settings: Pick<
    AgentConfig,
    "instructionsFilePath" | "promptTemplate" | "bootstrapPromptTemplate" | "dataPath" | "instanceId" | "skillsFolder"
  >;
  readonly policy: Policy;
  /** The session to resume; null = a fresh one. */
  readonly sessionId: string | null;
  readonly cwd: string;
  /** Where the claim of the shared volume is mounted; at the data path unless set. */
  readonly mountPath?: string;
  /** Whether the pod has this folder of the shared volume; all of it unless set. */
  readonly isMounted?: (path: string) => boolean;
  /** Has the instructions and skills where they are not part of the prompt. */
  readonly bundle?: PromptBundle | null;
}

export interface PreparedPrompt {
  readonly text: string;
  /** Characters by section, under the host's names where it has one. */
  readonly metrics: Readonly<Record<string, number>>;
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
}

/** The prompt of one attempt, section by section; files that cannot be read are left out with a warning. */
export async function preparePrompt(input: PromptInput): Promise<PreparedPrompt> {
  const host = await import("./host-rendering.ts");
  const { instructions, skills, counted, notes, warnings } = input.bundle ? inBundle(input.bundle) : await readStanding(input);
  const { bootstrap, wakePrompt, connections, sessionHandoff, task, heartbeat } = renderSections(input, host);
  const text = host.joinPromptSections([instructions, skills, bootstrap, wakePrompt, connections.text, sessionHandoff, task, heartbeat]);
  return {
    text,
    metrics: {
      promptChars: text.length,
      ...counted,
      bootstrapPromptChars: bootstrap.length,
      wakePromptChars: wakePrompt.length + connections.text.length,
      sessionHandoffChars: sessionHandoff.length,
      taskContextChars: task.length,
      heartbeatPromptChars: heartbeat.length,
    },
    warnings: [...warnings, ...connections.warnings],
    notes,
  };
}

/** The parts that are the same in every session. */
interface Standing extends Pick<PreparedPrompt, "notes" | "warnings"> {
  readonly instructions: string;
  readonly skills: string;
  readonly counted: { readonly instructionsChars: number; readonly skillsBundleChars: number };
}

async function readStanding({ ctx, settings, policy, cwd, mountPath, isMounted }: PromptInput): Promise<Standing> {
  const files = new ServerFiles([settings.dataPath, mountPath ?? settings.dataPath], filePlaces(ctx, settings, policy, cwd));
  const instructions = await readInstructions(settings.instructionsFilePath, cwd, files, policy);
  const skills = await readSkills(ctx.config, settings, files, isMounted);
  return {
    instructions: instructions.text,
    skills: skills.text,
    counted: { instructionsChars: instructions.text.length, skillsBundleChars: skills.text.length },
    notes: [...instructions.notes, ...skills.notes],
    warnings: [...instructions.warnings, ...skills.warnings],
  };
}

function inBundle({ instructionsChars, skillsChars, notes, warnings }: PromptBundle): Standing {
  return { instructions: "", skills: "", counted: { instructionsChars, skillsBundleChars: skillsChars }, notes, warnings };
}

type HostRendering = typeof import("./host-rendering.ts");

/** The sections about this run, rendered by the host's own library. */
function renderSections({ ctx, settings, sessionId }: PromptInput, host: HostRendering) {
  const { context } = ctx;
  const resumedSession = sessionId !== null;
  const conversationMode = context.conversationMode === true;
  const render = (template: string) => host.renderTemplate(template, templateData(ctx)).trim();
  const defaultTemplate = conversationMode
    ? host.DEFAULT_PAPERCLIP_CONVERSATION_PROMPT_TEMPLATE
    : host.DEFAULT_PAPERCLIP_AGENT_PROMPT_TEMPLATE;
  const task = host.selectPaperclipTaskMarkdown(context, { resumedSession });
  // The task's text already has the issue's description.
  const options = { resumedSession, conversationMode, suppressIssueDescription: task !== "" };
  const wakePrompt = host.renderPaperclipWakePrompt(context.paperclipWake, options);
  const needsNoTemplate = (resumedSession && wakePrompt !== "") || host.isPaperclipRecoveryWakePayload(context.paperclipWake);
  return {
    bootstrap: resumedSession || settings.bootstrapPromptTemplate === null ? "" : render(settings.bootstrapPromptTemplate),
    wakePrompt,
    connections: connectionSection(context, wakePrompt),
    sessionHandoff: textOf(context.paperclipSessionHandoffMarkdown) ?? "",
    task,
    heartbeat: needsNoTemplate ? "" : render(settings.promptTemplate ?? defaultTemplate),
  };
}

/** Behind the wake prompt, in every turn, as the host does it; a later version of its library has them in the wake prompt already. */
function connectionSection(context: PromptInput["ctx"]["context"], wakePrompt: string) {
  const given = connectionInstructions(context);
  if (given === null || wakePrompt.includes(given.text)) return { text: "", warnings: [] };
  return { text: given.text, warnings: given.warning === null ? [] : [given.warning] };
}

/** The values of templates. The prompt is shown in logs, so tokens are left out. */
function templateData({ agent, runId, context, authToken }: PromptInput["ctx"]): Record<string, unknown> {
  const secrets = authToken === undefined ? [] : [authToken];
  return {
    agentId: agent.id,
    companyId: agent.companyId,
    runId,
    company: { id: agent.companyId },
    agent: withoutTokens(recordOf(agent), secrets),
    run: { id: runId, source: textOf(context.source) ?? textOf(context.wakeSource) ?? "on_demand" },
    context: withoutTokens(context, secrets),
  };
}
