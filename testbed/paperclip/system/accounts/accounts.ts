import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call } from "../../src/host/api.ts";
import type { Agent } from "../../src/host/company.ts";
import type { Stage } from "../../src/stage.ts";

/** An account as an agent is given it. */
export interface Account {
  readonly provider: string;
  readonly method: "api_key" | "subscription";
  readonly connectionId: string;
  readonly grantId: string;
}

type At = Pick<Stage, "host" | "company">;

/** As the host's page makes one from a key. */
export async function keyAccount({ host, company }: At, provider: string, apiKey: string): Promise<Account> {
  const wanted = { provider, method: "api_key", name: `${provider} key`, ownership: "shared", allAgents: true } as const;
  const made = await call<Omit<Account, "provider" | "method">>(host, "POST", `/companies/${company.id}/ai-connections`, {
    ...wanted,
    apiKey,
  });
  return { ...made, provider, method: "api_key" };
}

/** As the host's page makes one from a login: it names a folder, and the provider's CLI leaves the token there. */
export async function subscription({ host, company }: At, provider: string, accessToken: string): Promise<Account> {
  const path = `/companies/${company.id}/ai-connections/local`;
  const wanted = { provider, method: "subscription", name: `${provider} login`, ownership: "shared", allAgents: true } as const;
  const { sessionId } = await call<{ sessionId: string }>(host, "POST", `${path}/attempts`, wanted);
  const folder = join(host.home.path, "instances/default/ai-local-logins", sessionId);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, ".credentials.json"), JSON.stringify({ claudeAiOauth: { accessToken } }), { mode: 0o600 });
  const made = await call<Omit<Account, "provider" | "method">>(host, "POST", path, { ...wanted, localSessionId: sessionId });
  return { ...made, provider, method: "subscription" };
}

/** As the agent's page does it: the host tries the account with the agent's adapter first. */
export function useAccount({ host }: At, agent: Agent, { provider, method, connectionId, grantId }: Account): Promise<Agent> {
  const aiConnection = { provider, method, connectionId, grantId, mode: "shared" };
  return call(host, "PATCH", `/agents/${agent.id}`, { runtimeConfig: { heartbeat: { enabled: false }, aiConnection } });
}
