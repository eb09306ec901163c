import type { KubeObject } from "./object.ts";
import { resources } from "./resources.ts";
import type { Target } from "./route.ts";
import { selectorOf } from "./selectors.ts";
import { ApiError, badRequest, expired } from "./status.ts";
import type { Store } from "./store.ts";

interface Continue {
  version: number;
  after: string;
}

const keyOf = (object: KubeObject): string => `${object.metadata.namespace ?? ""}/${object.metadata.name}`;

export function listObjects(store: Store, target: Target, query: URLSearchParams): object {
  const { kind, apiVersion } = resources[target.resource];
  const token = readToken(store, query.get("continue"));
  checkVersion(store, query.get("resourceVersion"));
  const matches = selectorOf(query);
  const after = token?.after ?? "";
  const found = store.list(target.resource, target.namespace).filter((object) => matches(object) && keyOf(object) > after);
  const limit = Number(query.get("limit") ?? 0) || found.length;
  const items = found.slice(0, limit);
  const version = token?.version ?? store.version;
  const rest = found.length - items.length;
  const more = rest > 0 ? { continue: writeToken({ version, after: keyOf(items.at(-1)!) }), remainingItemCount: rest } : {};
  return { kind: `${kind}List`, apiVersion, metadata: { resourceVersion: String(version), ...more }, items: items.map(withoutType) };
}

// Items of a typed list carry neither kind nor apiVersion.
function withoutType(object: KubeObject): object {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return rest;
}

const writeToken = (token: Continue): string => Buffer.from(JSON.stringify(token)).toString("base64url");

function readToken(store: Store, text: string | null): Continue | undefined {
  if (!text) return undefined;
  let token: Continue;
  try {
    token = JSON.parse(Buffer.from(text, "base64url").toString()) as Continue;
  } catch {
    throw badRequest("continue key is not valid: invalid character");
  }
  if (store.since(token.version) !== undefined) return token;
  throw expired("The provided continue parameter is too old to display a consistent list result.");
}

function checkVersion(store: Store, text: string | null): void {
  if (!text) return;
  if (!/^\d+$/.test(text)) throw badRequest(`Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`);
  if (Number(text) > store.version) {
    throw new ApiError(504, "Timeout", `Too large resource version: ${text}, current: ${store.version}`, {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version", field: "" }],
    });
  }
}
