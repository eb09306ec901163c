import { isResource, type ResourceName, resources } from "./resources.ts";

export interface Target {
  readonly resource: ResourceName;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

// "/api/v1/namespaces/a/pods/b/status" → pods, a, b, status; undefined for paths that name no stored resource.
export function route(path: string): Target | undefined {
  const parts = path
    .split("/")
    .filter((part) => part !== "")
    .map(decodeURIComponent);
  const group = parts[0] === "api" ? "v1" : parts[0] === "apis" ? `${parts[1]}/${parts[2]}` : undefined;
  const rest = parts[0] === "api" ? parts.slice(2) : parts.slice(3);
  if (group === undefined || (parts[0] === "api" && parts[1] !== "v1")) return undefined;
  const scoped = rest[0] === "namespaces" && rest.length > 2 && !["status", "finalize"].includes(rest[2]!);
  const [resource, name, subresource, ...extra] = scoped ? rest.slice(2) : rest;
  if (resource === undefined || extra.length > 0 || !isResource(resource)) return undefined;
  if (resources[resource].apiVersion !== group || (scoped && !resources[resource].namespaced)) return undefined;
  if (!scoped && resources[resource].namespaced && name !== undefined) return undefined;
  return {
    resource,
    ...(scoped ? { namespace: rest[1]! } : {}),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

export function verbOf(method: string, target: Pick<Target, "name">, query: URLSearchParams): Verb | undefined {
  const named = target.name !== undefined;
  switch (method) {
    case "GET":
      if (["1", "true"].includes(query.get("watch") ?? "")) return "watch";
      return named ? "get" : "list";
    case "POST":
      return "create";
    case "PUT":
      return named ? "update" : undefined;
    case "PATCH":
      return named ? "patch" : undefined;
    case "DELETE":
      return named ? "delete" : "deletecollection";
    default:
      return undefined;
  }
}
