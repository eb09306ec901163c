import type { EarlierSession, ImportSource } from "@paperclip-k8s/paperclip";

/** A longer name of a folder is cut and gets a hash. */
const MOST = 200;

/** The folder in which Claude Code keeps the transcripts of a working folder. */
export function projectFolder(cwd: string): string {
  const name = cwd.replace(/[^a-zA-Z0-9]/g, "-");
  if (name.length <= MOST) return name;
  let sum = 0;
  for (let at = 0; at < cwd.length; at++) sum = (sum * 31 + cwd.charCodeAt(at)) | 0;
  return `${name.slice(0, MOST)}-${Math.abs(sum).toString(36)}`;
}

/**
 * Transcripts of the HOME that runs shared: a file for each session, beside it a folder with what its sub-agents and tools left. Claude Code looks
 * for them by its working folder, so they are put where it looks today.
 */
export function earlierTranscripts({ sessionId, cwd, madeIn, dataPath, serverEnv }: EarlierSession): ImportSource[] {
  const folders = new Set([`${dataPath}/.claude`, ...(serverEnv.CLAUDE_CONFIG_DIR ? [serverEnv.CLAUDE_CONFIG_DIR] : [])]);
  return [...folders].map((folder) => ({
    kind: "files",
    path: `${folder}/projects/*/${sessionId}.jsonl`,
    first: [madeIn ?? dataPath, cwd].map(projectFolder),
    beside: [sessionId],
    to: `.claude/projects/${projectFolder(cwd)}`,
  }));
}
