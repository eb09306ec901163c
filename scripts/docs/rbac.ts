/** One thing an account may do, and why. */
export interface RbacRule {
  readonly verb: string;
  readonly resource: string;
  readonly group: string;
  readonly scope: "namespace" | "own-namespace" | "cluster";
  readonly why: string;
}

export interface RbacNames {
  /** Where the account lives, and its process runs. */
  readonly namespace: string;
  /** Where runs run. */
  readonly runs: string;
  /** Name of the ServiceAccount, its Roles and their RoleBindings. */
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

/** A ServiceAccount that may do exactly this where runs run, and in its own namespace. What is cluster-wide is not in it: `clusterRbacObjects`. */
export function rbacObjects(all: readonly RbacRule[], names: RbacNames): readonly RbacObject[] {
  const { namespace, runs, name, labels } = names;
  const metadata = (where: string, what = name) => ({ name: what, namespace: where, ...(labels === undefined ? {} : { labels }) });
  const granted = (where: string, what: string, scope: RbacRule["scope"]) => [
    {
      apiVersion: `${API}/v1`,
      kind: "Role",
      metadata: metadata(where, what),
      rules: grouped(all.filter((rule) => rule.scope === scope)).map(roleRule),
    },
    {
      apiVersion: `${API}/v1`,
      kind: "RoleBinding",
      metadata: metadata(where, what),
      roleRef: { apiGroup: API, kind: "Role", name: what },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  ];
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: metadata(namespace) },
    ...granted(runs, name, "namespace"),
    ...granted(namespace, ownPodRole(name), "own-namespace"),
  ];
}

/** Named apart, so that both Roles can be in one namespace. */
const ownPodRole = (name: string): string => `${name}-own-pod`;

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
    const { rules: granted, ...rest } = object;
    if (granted === undefined) return yaml(rest, "");
    const own = rules.filter((rule) => (granted as readonly RoleRule[]).some((role) => grants(role, rule)));
    return [...yaml(rest, ""), "rules:", ...grouped(own).flatMap(ruleLines)];
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

const grants = (role: RoleRule, { group, resource, verb }: RbacRule): boolean =>
  role.apiGroups.includes(group) && role.resources.includes(resource) && role.verbs.includes(verb);

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
