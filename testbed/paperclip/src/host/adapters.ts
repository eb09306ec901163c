import { call, type HostAddress } from "./api.ts";

export interface AdapterInfo {
  readonly type: string;
  readonly source?: string;
  readonly overriddenBuiltin?: boolean;
  readonly overridePaused?: boolean;
  readonly capabilities?: Readonly<Record<string, unknown>>;
}

/** A field of the agent's form, as far as we fill it in. */
export interface FormField {
  readonly key: string;
  readonly label: string;
  readonly type: string;
  readonly default?: string | number | boolean;
  readonly options?: readonly { readonly label: string; readonly value: string }[];
  /** With `notValues` a field is shown only while it is set. */
  readonly meta?: { readonly visibleWhen?: { readonly key: string; readonly value?: string; readonly notValues?: readonly string[] } };
}

/** The adapters of a host, as its settings page sees them. */
export function adaptersOf(host: HostAddress) {
  return {
    /** From a folder on the server. */
    install: (packageName: string) => call<AdapterInfo>(host, "POST", "/adapters/install", { packageName, isLocalPath: true }),
    /** Gives a built-in type back to the host's own adapter, or takes it again; until the server's next start. */
    pause: (type: string, paused: boolean) => call<unknown>(host, "PATCH", `/adapters/${type}/override`, { paused }),
    remove: (type: string) => call<unknown>(host, "DELETE", `/adapters/${type}`),
    list: () => call<AdapterInfo[]>(host, "GET", "/adapters"),
    configSchema: (type: string) => call<{ fields: FormField[] }>(host, "GET", `/adapters/${type}/config-schema`),
    uiParser: (type: string) => call<string>(host, "GET", `/adapters/${type}/ui-parser.js`),
    configurationDoc: (type: string) => call<string>(host, "GET", `/llms/agent-configuration/${type}.txt`),
    models: (companyId: string, type: string) => call<{ id: string }[]>(host, "GET", `/companies/${companyId}/adapters/${type}/models`),
    testEnvironment: (companyId: string, type: string, adapterConfig: Readonly<Record<string, unknown>>) =>
      call<{ status: string; checks: { code: string; level: string; message: string }[] }>(
        host,
        "POST",
        `/companies/${companyId}/adapters/${type}/test-environment`,
        { adapterConfig },
      ),
  };
}
