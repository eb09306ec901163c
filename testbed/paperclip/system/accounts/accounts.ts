import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AccountKind } from "../../../../packages/adapters.ts";
import { call } from "../../src/host/api.ts";
import type { Agent } from "../../src/host/company.ts";
import type { Stage } from "../../src/stage.ts";

type At = Pick<Stage, "host" | "company">;

/** Where the host keeps an account and who may use it. */
interface Account {
  readonly connectionId: string;
  readonly grantId: string;
}

/** As the host's page makes one: from a key, or from a login, for which it names a folder where the provider's CLI leaves its token. */
export function makeAccount({ host, company }: At, { provider, method, login }: AccountKind, key: string): Promise<Account> {
  const path = `/companies/${company.id}/ai-connections`;
  const wanted = { provider, method, name: `${provider} ${method}`, ownership: "shared", allAgents: true };
  return login === undefined
    ? call(host, "POST", path, { ...wanted, apiKey: key })
    : call<{ sessionId: string }>(host, "POST", `${path}/local/attempts`, wanted).then(({ sessionId }) => {
        const { file, text } = login(key);
        const folder = join(host.home.path, "instances/default/ai-local-logins", sessionId);
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, file), text, { mode: 0o600 });
        return call<Account>(host, "POST", `${path}/local`, { ...wanted, localSessionId: sessionId });
      });
}

/** As the agent's page does it: the host tries the account with the agent's adapter first, and refuses it if that fails. */
export function useAccount({ host }: At, agent: Agent, { provider, method }: AccountKind, account: Account): Promise<Agent> {
  const aiConnection = { provider, method, mode: "shared", ...account };
  return call(host, "PATCH", `/agents/${agent.id}`, { runtimeConfig: { heartbeat: { enabled: false }, aiConnection } });
}
