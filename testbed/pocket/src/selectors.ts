import type { KubeObject } from "./object.ts";
import { badRequest } from "./status.ts";

export type Predicate = (object: KubeObject) => boolean;

// "a=b,c in (d,e),!f": commas inside parentheses do not separate.
export function labelSelector(text: string): Predicate {
  const requirements = text
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map(labelRequirement);
  return (object) => requirements.every((holds) => holds(object.metadata.labels ?? {}));
}

function labelRequirement(text: string): (labels: Record<string, string>) => boolean {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(text);
  if (set) {
    const values = set[3]!.split(",").map((value) => value.trim());
    const wanted = set[2] === "in";
    // An absent label satisfies `notin`, never `in`.
    return (labels) => (labels[set[1]!] === undefined ? !wanted : values.includes(labels[set[1]!]!) === wanted);
  }
  const equality = /^([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)$/.exec(text);
  if (equality) {
    const [, key, operator, value] = equality;
    return operator === "!=" ? (labels) => labels[key!] !== value : (labels) => labels[key!] === value;
  }
  const exists = /^(!?)\s*([^\s=!]+)$/.exec(text);
  if (!exists) throw badRequest(`unable to parse requirement: found '${text}', expected: a label selector`);
  return (labels) => (labels[exists[2]!] !== undefined) === (exists[1] === "");
}

const fields: Record<string, (object: KubeObject) => string> = {
  "metadata.name": (object) => object.metadata.name,
  "metadata.namespace": (object) => object.metadata.namespace ?? "",
  "status.phase": (object) => inner(object.status, "phase"),
  "spec.nodeName": (object) => inner(object.spec, "nodeName"),
  type: (object) => (typeof object.type === "string" ? object.type : ""),
  reason: (object) => (typeof object.reason === "string" ? object.reason : ""),
  "involvedObject.uid": (object) => inner(object.involvedObject, "uid"),
  "involvedObject.kind": (object) => inner(object.involvedObject, "kind"),
  "involvedObject.name": (object) => inner(object.involvedObject, "name"),
  "involvedObject.namespace": (object) => inner(object.involvedObject, "namespace"),
};

function inner(value: unknown, field: string): string {
  const found = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[field] : undefined;
  return typeof found === "string" ? found : "";
}

export function fieldSelector(text: string): Predicate {
  const requirements = text
    .split(",")
    .filter((part) => part.trim() !== "")
    .map((part) => {
      const match = /^\s*([\w.]+)\s*(==|=|!=)\s*(.*?)\s*$/.exec(part);
      if (!match) throw badRequest(`invalid field selector: "${text}"; can't understand '${part}'`);
      const read = fields[match[1]!];
      if (!read) throw badRequest(`Unable to find field label selector: field label not supported: ${match[1]}`);
      return (object: KubeObject) => (read(object) === match[3]) === (match[2] !== "!=");
    });
  return (object) => requirements.every((holds) => holds(object));
}

export function selectorOf(query: URLSearchParams): Predicate {
  const byLabel = labelSelector(query.get("labelSelector") ?? "");
  const byField = fieldSelector(query.get("fieldSelector") ?? "");
  return (object) => byLabel(object) && byField(object);
}
