import { claudeModel, type Llm, openCodeModel, type ScriptedModel } from "@paperclip-k8s/llm";

export const TYPES = ["opencode_k8s", "claude_k8s"] as const;
export type AdapterType = (typeof TYPES)[number];

export interface AgentKind {
  readonly title: string;
  /** What makes the scripted model this agent's model. */
  scripted(llm: Pick<Llm, "url">): ScriptedModel;
}

export const KINDS: Readonly<Record<AdapterType, AgentKind>> = {
  // Dear, because the host counts costs in whole cents and a scripted run is short.
  opencode_k8s: { title: "OpenCode", scripted: (llm) => openCodeModel(llm, { priceFactor: 100 }) },
  claude_k8s: { title: "Claude Code", scripted: (llm) => claudeModel(llm) },
};

/** Where the model is and the key for it, for agents of every kind: in production a matter of the server's pod. */
export const providersFor = (llm: Pick<Llm, "url">): Readonly<Record<string, string>> =>
  Object.assign({}, ...TYPES.map((type) => KINDS[type].scripted(llm).provider));

/** An environment as the host's API takes it. */
export const plainEnv = (env: Readonly<Record<string, string>>): Record<string, { type: "plain"; value: string }> =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, { type: "plain" as const, value }]));
