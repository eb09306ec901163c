import { recordOf, textOf } from "../environment/context-values.ts";
import type { ExecutionContext } from "../host.ts";
import { readSkills } from "../skills/read-skills.ts";
import { BoundedFiles, type BoundedFilesOptions } from "./bounded-files.ts";
import { readInstructions } from "./instructions.ts";
import { withoutTokens } from "./without-tokens.ts";

export interface PromptInput {
  readonly ctx: Pick<ExecutionContext, "runId" | "agent" | "context" | "config" | "authToken">;
  readonly settings: {
    readonly instructionsFilePath: string | null;
    readonly promptTemplate: string | null;
    readonly bootstrapPromptTemplate: string | null;
    readonly dataPath: string;
  };
  /** The session that this turn resumes; null = a fresh one. */
  readonly sessionId: string | null;
  readonly cwd: string;
  readonly files?: BoundedFilesOptions;
}

export interface PreparedPrompt {
  readonly text: string;
  /** Characters by section, under the host's names where it has one. */
  readonly metrics: Readonly<Record<string, number>>;
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
}

/** The text of one turn, section by section; what cannot be read is warned about and left out. */
export async function preparePrompt(input: PromptInput): Promise<PreparedPrompt> {
  const { ctx, settings, cwd } = input;
  const host = await import("./host-rendering.ts");
  const files = new BoundedFiles(input.files);
  const instructions = await readInstructions(settings.instructionsFilePath, cwd, files);
  const skills = await readSkills(ctx.config, settings.dataPath, files);
  const turn = renderTurn(input, host);
  const text = host.joinPromptSections([
    instructions.text,
    skills.text,
    turn.bootstrap,
    turn.wake,
    turn.sessionHandoff,
    turn.task,
    turn.heartbeat,
  ]);
  return {
    text,
    metrics: {
      promptChars: text.length,
      instructionsChars: instructions.text.length,
      skillsBundleChars: skills.text.length,
      bootstrapPromptChars: turn.bootstrap.length,
      wakePromptChars: turn.wake.length,
      sessionHandoffChars: turn.sessionHandoff.length,
      taskContextChars: turn.task.length,
      heartbeatPromptChars: turn.heartbeat.length,
    },
    warnings: [...instructions.warnings, ...skills.warnings],
    notes: [...instructions.notes, ...skills.notes],
  };
}

type HostRendering = typeof import("./host-rendering.ts");

/** What the host says about this turn, in the words of its own library. */
function renderTurn({ ctx, settings, sessionId }: PromptInput, host: HostRendering) {
  const { context } = ctx;
  const resumedSession = sessionId !== null;
  const conversationMode = context.conversationMode === true;
  const render = (template: string) => host.renderTemplate(template, templateData(ctx)).trim();
  const defaultTemplate = conversationMode
    ? host.DEFAULT_PAPERCLIP_CONVERSATION_PROMPT_TEMPLATE
    : host.DEFAULT_PAPERCLIP_AGENT_PROMPT_TEMPLATE;
  const task = host.selectPaperclipTaskMarkdown(context, { resumedSession });
  const wake = host.renderPaperclipWakePrompt(context.paperclipWake, {
    resumedSession,
    conversationMode,
    // The task text carries the description; once is enough.
    suppressIssueDescription: task !== "",
  });
  const wakeSaysAll = (resumedSession && wake !== "") || host.isPaperclipRecoveryWakePayload(context.paperclipWake);
  return {
    bootstrap: resumedSession || settings.bootstrapPromptTemplate === null ? "" : render(settings.bootstrapPromptTemplate),
    wake,
    sessionHandoff: textOf(context.paperclipSessionHandoffMarkdown) ?? "",
    task,
    heartbeat: wakeSaysAll ? "" : render(settings.promptTemplate ?? defaultTemplate),
  };
}

/** What templates may name; the prompt is shown in logs, so it holds no tokens. */
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
