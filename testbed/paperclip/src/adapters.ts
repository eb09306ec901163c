import { call } from "./api.ts";
import type { PackedAdapter } from "./install.ts";

export interface AdapterInfo {
  readonly type: string;
  readonly capabilities?: Readonly<Record<string, unknown>>;
}

/** The adapters of a host, as its settings page sees them. */
export function adaptersOf(base: string) {
  return {
    install: (packed: PackedAdapter) =>
      call<AdapterInfo>(base, "POST", "/adapters/install", { packageName: packed.path, isLocalPath: true }),
    list: () => call<AdapterInfo[]>(base, "GET", "/adapters"),
    configSchema: (type: string) => call<{ fields: { key: string; type: string }[] }>(base, "GET", `/adapters/${type}/config-schema`),
    uiParser: (type: string) => call<string>(base, "GET", `/adapters/${type}/ui-parser.js`),
    configurationDoc: (type: string) => call<string>(base, "GET", `/llms/agent-configuration/${type}.txt`),
    models: (companyId: string, type: string) => call<{ id: string }[]>(base, "GET", `/companies/${companyId}/adapters/${type}/models`),
    testEnvironment: (companyId: string, type: string, adapterConfig: Readonly<Record<string, unknown>>) =>
      call<{ status: string; checks: { code: string; level: string; message: string }[] }>(
        base,
        "POST",
        `/companies/${companyId}/adapters/${type}/test-environment`,
        { adapterConfig },
      ),
  };
}
