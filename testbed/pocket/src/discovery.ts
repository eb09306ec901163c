import { type ResourceName, resources } from "./resources.ts";

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

function resourceList(groupVersion: string): object {
  const names = (Object.keys(resources) as ResourceName[]).filter((name) => resources[name].apiVersion === groupVersion);
  const entries = names.map((name) => ({
    name,
    singularName: resources[name].kind.toLowerCase(),
    namespaced: resources[name].namespaced,
    kind: resources[name].kind,
    verbs,
  }));
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources: entries };
}

const group = (name: string) => {
  const version = { groupVersion: `${name}/v1`, version: "v1" };
  return { name, versions: [version], preferredVersion: version };
};

// undefined for paths that are not discovery.
export function discovery(path: string): object | string | undefined {
  switch (path) {
    case "/version":
      return { major: "1", minor: "34", gitVersion: "v1.34.4+pocket", platform: `${process.platform}/${process.arch}` };
    case "/healthz":
    case "/livez":
    case "/readyz":
      return "ok";
    case "/api":
      return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
    case "/apis":
      return { kind: "APIGroupList", apiVersion: "v1", groups: [group("batch"), group("authorization.k8s.io"), group("storage.k8s.io")] };
    case "/api/v1":
      return resourceList("v1");
    case "/apis/batch/v1":
      return resourceList("batch/v1");
    case "/apis/storage.k8s.io/v1":
      return resourceList("storage.k8s.io/v1");
    default:
      return undefined;
  }
}
