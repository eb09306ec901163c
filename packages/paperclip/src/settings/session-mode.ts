import { stateFields } from "./fields/state.ts";
import { find } from "./read.ts";

/** Where the agent's settings say that sessions are kept; undefined = nowhere, or in a mode that there is not. */
export const chosenMode = (settings: Readonly<Record<string, unknown>>) => find(stateFields.agentDbMode, [settings]);
