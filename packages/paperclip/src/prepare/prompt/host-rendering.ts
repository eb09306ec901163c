// The parts of the host's public library that we use. Always imported on first use: its modules would double the entry's import time.
export {
  buildInvocationEnvForLogs,
  buildRuntimeMountedSkillSnapshot,
  DEFAULT_PAPERCLIP_AGENT_PROMPT_TEMPLATE,
  DEFAULT_PAPERCLIP_CONVERSATION_PROMPT_TEMPLATE,
  isPaperclipRecoveryWakePayload,
  joinPromptSections,
  type PaperclipSkillEntry,
  readPaperclipIssueWorkModeFromContext,
  readPaperclipRuntimeSkillEntries,
  renderPaperclipWakePrompt,
  renderTemplate,
  resolveLegacyPaperclipDesiredSkillNames,
  selectPaperclipTaskMarkdown,
  stringifyPaperclipWakePayload,
  writePaperclipSkillSyncPreference,
} from "@paperclipai/adapter-utils/server-utils";
