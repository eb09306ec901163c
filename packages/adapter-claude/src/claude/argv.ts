import type { Argument } from "@paperclip-k8s/engine";

interface ArgvOptions {
  readonly command?: string;
  readonly sessionId?: string | null;
  readonly model?: string | null;
  readonly effort?: string | null;
  /** 0 = no limit. */
  readonly maxTurns?: number;
  readonly skipPermissions?: boolean;
  /** Only of use to a fresh session: a resumed one keeps the system prompt it was made with. */
  readonly instructionsFile?: string | null;
  readonly bundleFolder?: string | null;
  readonly mcpConfig?: Argument | null;
  readonly settings?: Argument | null;
  readonly extraArgs?: readonly string[];
}

/** The command line of one run; the prompt comes on stdin. */
export function argv(options: ArgvOptions = {}): [string, ...Argument[]] {
  const { command = "claude", sessionId, model, effort, maxTurns = 0, skipPermissions = true } = options;
  const { instructionsFile, bundleFolder, mcpConfig, settings, extraArgs = [] } = options;
  return [
    command,
    "--print",
    "--output-format",
    "stream-json",
    // These two take as many values as follow, so that an option of ours must follow and not the user's arguments.
    ...(bundleFolder ? ["--add-dir", bundleFolder] : []),
    ...(mcpConfig ? ["--mcp-config", mcpConfig, "--strict-mcp-config"] : []),
    "--verbose",
    ...(sessionId ? ["--resume", sessionId] : []),
    ...(skipPermissions ? ["--dangerously-skip-permissions"] : []),
    ...(model ? ["--model", model] : []),
    ...(effort ? ["--effort", effort] : []),
    ...(maxTurns > 0 ? ["--max-turns", String(maxTurns)] : []),
    ...(instructionsFile && !sessionId ? ["--append-system-prompt-file", instructionsFile] : []),
    ...(settings ? ["--settings", settings] : []),
    ...extraArgs,
  ];
}
