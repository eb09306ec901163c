// Adapter types that have settings of their own.
export const OPENCODE = "opencode_k8s";
export const CLAUDE = "claude_k8s";
