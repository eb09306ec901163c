/** One thing an account may do, and why. */
export interface RbacRule {
  readonly verb: string;
  readonly resource: string;
  readonly group: string;
  readonly scope: "namespace" | "cluster";
  readonly why: string;
}

export interface RbacNames {
  /** Where runs run, and the account lives. */
  readonly namespace: string;
  /** Name of the ServiceAccount, its Role and its RoleBinding. */
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
}

interface RoleRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const API = "rbac.authorization.k8s.io";

type RbacObject = Readonly<Record<string, unknown>>;

/** A ServiceAccount that may do exactly this in its namespace. What is cluster-wide is not in it: `clusterRbacObjects`. */
export function rbacObjects(all: readonly RbacRule[], names: RbacNames): readonly RbacObject[] {
  const rules = all.filter(({ scope }) => scope === "namespace");
  const { namespace, name, labels } = names;
  const metadata = { name, namespace, ...(labels === undefined ? {} : { labels }) };
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    { apiVersion: `${API}/v1`, kind: "Role", metadata, rules: grouped(rules).map(roleRule) },
    {
      apiVersion: `${API}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: API, kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  ];
}

/** The cluster-wide rest, for the same account: only who administers the cluster can grant it. */
export function clusterRbacObjects(all: readonly RbacRule[], { namespace, name, labels }: RbacNames): readonly RbacObject[] {
  const metadata = { name: `${namespace}-${name}`, ...(labels === undefined ? {} : { labels }) };
  const rules = grouped(all.filter(({ scope }) => scope === "cluster")).map(roleRule);
  return [
    { apiVersion: `${API}/v1`, kind: "ClusterRole", metadata, rules },
    {
      apiVersion: `${API}/v1`,
      kind: "ClusterRoleBinding",
      metadata,
      roleRef: { apiGroup: API, kind: "ClusterRole", name: metadata.name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  ];
}

/** The objects as a file for people: each verb with its reason. */
export function rbacYaml(rules: readonly RbacRule[], objects: readonly RbacObject[]): string {
  const documents = objects.map((object) => {
    const { rules: _, ...rest } = object;
    const scope = object.kind === "Role" ? "namespace" : object.kind === "ClusterRole" ? "cluster" : null;
    const own = rules.filter((rule) => rule.scope === scope);
    return scope === null ? yaml(rest, "") : [...yaml(rest, ""), "rules:", ...grouped(own).flatMap(ruleLines)];
  });
  return `${documents.map((lines) => lines.join("\n")).join("\n---\n")}\n`;
}

/** One rule per resource, in the order of the table. */
function grouped(rules: readonly RbacRule[]): readonly (readonly [RbacRule, ...RbacRule[]])[] {
  const groups = new Map<string, [RbacRule, ...RbacRule[]]>();
  for (const rule of rules) {
    const key = `${rule.group}/${rule.resource}`;
    const group = groups.get(key);
    if (group) group.push(rule);
    else groups.set(key, [rule]);
  }
  return [...groups.values()];
}

function roleRule(group: readonly [RbacRule, ...RbacRule[]]): RoleRule {
  return { apiGroups: [group[0].group], resources: [group[0].resource], verbs: group.map(({ verb }) => verb) };
}

function ruleLines(group: readonly [RbacRule, ...RbacRule[]]): string[] {
  const { apiGroups, resources, verbs } = roleRule(group);
  return [
    ...group.map(({ verb, why }) => `  # ${verb}: ${why}`),
    `  - apiGroups: ${JSON.stringify(apiGroups)}`,
    `    resources: ${JSON.stringify(resources)}`,
    `    verbs: ${JSON.stringify(verbs).replaceAll(",", ", ")}`,
  ];
}

/** As much YAML as these objects need: maps, one list of maps, texts that need no quotes. */
function yaml(value: Readonly<Record<string, unknown>>, indent: string): string[] {
  return Object.entries(value).flatMap(([key, entry]) => {
    if (Array.isArray(entry)) {
      const items = entry.map((item) => yaml(item as Record<string, unknown>, `${indent}    `));
      return [`${indent}${key}:`, ...items.flatMap(([first = "", ...rest]) => [`${indent}  - ${first.trimStart()}`, ...rest])];
    }
    if (typeof entry === "object" && entry !== null) return [`${indent}${key}:`, ...yaml(entry as Record<string, unknown>, `${indent}  `)];
    return [`${indent}${key}: ${entry}`];
  });
}
