import type { Llm, ScriptedModel } from "@paperclip-k8s/llm";
import { type CliName, cliNames, loadKits } from "../../../packages/adapters.ts";

export type AdapterType = `${CliName}_k8s`;
export const TYPES: readonly [AdapterType, ...AdapterType[]] = cliNames.map((name) => `${name}_k8s` as const) as [AdapterType];

/** For what is the same with every CLI. */
export const [USUAL_TYPE] = TYPES;

export interface AgentKind {
  readonly title: string;
  /** The host's own adapter type for this CLI. */
  readonly builtInType: string;
  /** What makes the scripted model this agent's model. */
  scripted(llm: Pick<Llm, "url">, priceFactor?: number): ScriptedModel;
  readonly longCommands: Readonly<Record<string, string>>;
}

const kits = await loadKits();
/** The host counts costs in whole cents, and a test's run is short. */
const HIGH = 100;

export const KINDS = Object.fromEntries(
  cliNames.map((name) => {
    const { title, longCommands, scriptedModel } = kits[name];
    const scripted: AgentKind["scripted"] = (llm, priceFactor = HIGH) => scriptedModel(llm, { priceFactor });
    return [`${name}_k8s`, { title, longCommands, builtInType: `${name}_local`, scripted }];
  }),
) as Readonly<Record<AdapterType, AgentKind>>;

/** Where the model is and the key for it, for agents of every kind: in production a matter of the server's pod. */
export const providersFor = (llm: Pick<Llm, "url">, priceFactor?: number): Readonly<Record<string, string>> =>
  Object.assign({}, ...TYPES.map((type) => KINDS[type].scripted(llm, priceFactor).provider));

/** An environment as the host's API takes it. */
export const plainEnv = (env: Readonly<Record<string, string>>): Record<string, { type: "plain"; value: string }> =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, { type: "plain" as const, value }]));
