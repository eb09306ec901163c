import type { PromptBundle } from "../../agent-cli/agent-cli.ts";
import { recordOf, textOf } from "../../host/context-values.ts";
import type { ExecutionContext } from "../../host/types.ts";
import { readSkills } from "../skills/read-skills.ts";
import { readInstructions } from "./instructions.ts";
import { withoutTokens } from "./redact.ts";
import { ServerFiles, type ServerFilesOptions } from "./server-files.ts";

export interface PromptInput {
  readonly ctx: Pick<ExecutionContext, "runId" | "agent" | "context" | "config" | "authToken">;
  readonly settings: {
    readonly instructionsFilePath: string | null;
    readonly promptTemplate: string | null;
    readonly bootstrapPromptTemplate: string | null;
    readonly dataPath: string;
    readonly skillsFolder: string;
  };
  /** The session that this turn resumes; null = a fresh one. */
  readonly sessionId: string | null;
  readonly cwd: string;
  /** Holds instructions and skills, where they are not part of the prompt. */
  readonly bundle?: PromptBundle | null;
  readonly files?: Omit<ServerFilesOptions, "shared">;
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
  const host = await import("./host-rendering.ts");
  const lasting = input.bundle ? elsewhere(input.bundle) : await readLasting(input);
  const turn = renderTurn(input, host);
  const text = host.joinPromptSections([
    lasting.instructions,
    lasting.skills,
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
      instructionsChars: lasting.instructionsChars,
      skillsBundleChars: lasting.skillsChars,
      bootstrapPromptChars: turn.bootstrap.length,
      wakePromptChars: turn.wake.length,
      sessionHandoffChars: turn.sessionHandoff.length,
      taskContextChars: turn.task.length,
      heartbeatPromptChars: turn.heartbeat.length,
    },
    warnings: lasting.warnings,
    notes: lasting.notes,
  };
}

/** What an agent is told in every session: its instructions and skills. */
interface Lasting {
  readonly instructions: string;
  readonly skills: string;
  readonly instructionsChars: number;
  readonly skillsChars: number;
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
}

async function readLasting({ ctx, settings, cwd, files: options }: PromptInput): Promise<Lasting> {
  const files = new ServerFiles({ ...options, shared: settings.dataPath });
  const instructions = await readInstructions(settings.instructionsFilePath, cwd, files);
  const skills = await readSkills(ctx.config, settings, files);
  return {
    instructions: instructions.text,
    skills: skills.text,
    instructionsChars: instructions.text.length,
    skillsChars: skills.text.length,
    notes: [...instructions.notes, ...skills.notes],
    warnings: [...instructions.warnings, ...skills.warnings],
  };
}

function elsewhere({ instructionsChars, skillsChars, notes, warnings }: PromptBundle): Lasting {
  return { instructions: "", skills: "", instructionsChars, skillsChars, notes, warnings };
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
