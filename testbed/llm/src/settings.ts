// The settings of an agent whose model is the scripted LLM: one place for suite, demo, bench and test bed.

/** What an agent needs to talk to the scripted LLM and to nobody else. */
export interface ScriptedModel {
  /** The agent's `model`. */
  readonly model: string;
  /** Where the model is and the key for it: in production a matter of the server's pod. */
  readonly provider: Readonly<Record<string, string>>;
  /** Keeps the CLI from asking elsewhere. */
  readonly offline: Readonly<Record<string, string>>;
}

/** What a test may want otherwise; a CLI takes what means something to it. */
export interface ScriptedOptions {
  readonly apiKey?: string;
  /** The model's name; null = the provider lists none. */
  readonly name?: string | null;
  readonly contextLimit?: number;
  /** So many times the usual price: a host that counts whole cents sees nothing of a short run. */
  readonly priceFactor?: number;
}

/** As an agent's settings. */
export const scriptedSettings = ({ model, provider, offline }: ScriptedModel): { model: string; env: Record<string, string> } => ({
  model,
  env: { ...provider, ...offline },
});
