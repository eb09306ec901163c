import type { Llm, ScriptedModel } from "@paperclip-k8s/llm";
import { type CliName, cliNames, loadKits } from "../../../packages/adapters.ts";

export type AdapterType = `${CliName}_k8s`;
export const TYPES: readonly [AdapterType, ...AdapterType[]] = cliNames.map((name) => `${name}_k8s` as const) as [AdapterType];

/** For what is the same with every CLI. */
export const [USUAL_TYPE] = TYPES;

export interface AgentKind {
  readonly title: string;
  /** What makes the scripted model this agent's model. */
  scripted(llm: Pick<Llm, "url">): ScriptedModel;
  readonly longCommands: Readonly<Record<string, string>>;
}

const kits = await loadKits();

export const KINDS = Object.fromEntries(
  cliNames.map((name) => {
    const { title, longCommands, scriptedModel } = kits[name];
    // At a high price, because the host counts costs in whole cents and a scripted run is short.
    return [`${name}_k8s`, { title, longCommands, scripted: (llm: Pick<Llm, "url">) => scriptedModel(llm, { priceFactor: 100 }) }];
  }),
) as Readonly<Record<AdapterType, AgentKind>>;

/** Where the model is and the key for it, for agents of every kind: in production a matter of the server's pod. */
export const providersFor = (llm: Pick<Llm, "url">): Readonly<Record<string, string>> =>
  Object.assign({}, ...TYPES.map((type) => KINDS[type].scripted(llm).provider));

/** An environment as the host's API takes it. */
export const plainEnv = (env: Readonly<Record<string, string>>): Record<string, { type: "plain"; value: string }> =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, { type: "plain" as const, value }]));
