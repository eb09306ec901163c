// A run with its relay, where one is asked for: the CLI is told of it by its environment.

import { cliEnv } from "../cli/start-cli.ts";
import type { Order } from "../read-spec.ts";
import { relayEnv } from "./relay-env.ts";
import { startRelay } from "./start-relay.ts";

export interface RelayedRun {
  readonly order: Order;
  /** Says what is worth a note. */
  readonly close: () => string[];
}

export async function relayRun(order: Order, note: (text: string) => void): Promise<RelayedRun> {
  if (!order.relay) return { order, close: () => [] };
  const env = cliEnv(process.env, order.spec.env);
  const { url, close } = await startRelay(order.relay, env, note);
  const added = relayEnv(env, order.relay.urlEnv, url);
  return { order: { ...order, spec: { ...order.spec, env: { ...order.spec.env, ...added } } }, close };
}
