import { call } from "../../src/host/api.ts";
import type { Agent } from "../../src/host/company.ts";
import { openDatabase } from "../../src/server/database.ts";
import type { Stage } from "../../src/stage.ts";

/** A GitHub account of the agent's own, whose token can be replaced. */
export interface GitHubConnection {
  replaceToken(token: string): Promise<void>;
}

/** As the host stores one when somebody has signed in at GitHub, which needs GitHub itself; the token is a secret made by its API. */
export async function connectGitHub({ host, company }: Stage, agent: Agent, login: string, token: string): Promise<GitHubConnection> {
  const secret = await call<{ id: string }>(host, "POST", `/companies/${company.id}/secrets`, {
    name: `${login} at GitHub ${agent.id}`,
    value: token,
  });
  const tenant = { github: { userId: "1", login, installationCount: 1, repositoryCount: 1 } };
  const refs = [{ configPath: "oauth.access_token", secretId: secret.id, versionSelector: "latest" }];
  const database = await openDatabase(host);
  try {
    await database.unsafe(`
      with application as (insert into tool_applications (company_id, name, type)
        values ('${company.id}', 'GitHub of ${agent.id}', 'mcp_http') returning id),
      connection as (insert into tool_connections (company_id, application_id, name, uid, transport, auth_kind, credential_policy, status, enabled, config)
        select '${company.id}', id, 'GitHub', 'github-${agent.id}', 'mcp_remote', 'oauth', 'per_agent', 'active', true, '{"sourceTemplateKey":"github"}' from application returning id),
      install as (insert into tool_connection_installs (company_id, connection_id, target_type, target_id)
        select '${company.id}', id, 'agent', '${agent.id}' from connection)
      insert into connection_grants (company_id, connection_id, kind, subject_agent_id, provider_tenant, credential_secret_refs)
        select '${company.id}', id, 'agent', '${agent.id}', '${JSON.stringify(tenant)}', '${JSON.stringify(refs)}' from connection`);
  } finally {
    await database.end();
  }
  return { replaceToken: async (value) => void (await call(host, "POST", `/secrets/${secret.id}/rotate`, { value })) };
}
