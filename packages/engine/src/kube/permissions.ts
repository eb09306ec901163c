export type Verb = "create" | "get" | "list" | "watch" | "delete" | "patch";

export interface Permission {
  readonly verb: Verb;
  readonly resource: "jobs" | "pods" | "secrets" | "configmaps" | "events" | "persistentvolumeclaims" | "storageclasses";
  readonly group: "" | "batch" | "storage.k8s.io";
  /** Where it is needed: in the namespace runs run in, in the one of this process's own pod, or in the whole cluster. */
  readonly scope: "namespace" | "own-namespace" | "cluster";
  readonly why: string;
  /** False: without it a feature is missing, and runs still run. */
  readonly required: boolean;
  readonly lostWithout: string;
}

type Use = readonly [verb: Verb, need: "required" | "optional", why: string, lostWithout: string];

const of = (resource: Permission["resource"], group: Permission["group"], ...uses: readonly Use[]): readonly Permission[] =>
  uses.map(([verb, need, why, lostWithout]) => {
    return { verb, resource, group, scope: scopeOf(verb, resource), why, required: need === "required", lostWithout };
  });

/** No other pod is read by its name than the one this process runs in. */
function scopeOf(verb: Verb, resource: Permission["resource"]): Permission["scope"] {
  if (resource === "storageclasses") return "cluster";
  return verb === "get" && resource === "pods" ? "own-namespace" : "namespace";
}

/** Everything this engine asks of the API server, and nothing else: checks, generated RBAC, docs and test accounts come from here. */
export const permissions: readonly Permission[] = [
  ...of(
    "jobs",
    "batch",
    ["create", "required", "one Job per run", "no run can start"],
    ["get", "required", "who holds the name when a create answers 409", "a run whose Job exists already cannot go on"],
    ["list", "required", "the state of all runs' Jobs, once at the start", "the end of a run is not seen"],
    ["watch", "required", "changes of all runs' Jobs, without polling", "the end of a run is not seen"],
    ["delete", "required", "cancel, and clean-up after the end", "cancelled runs go on, and ended Jobs hold their name until their TTL"],
    [
      "patch",
      "optional",
      "taking over the live Job of a run whose server is gone",
      "after a restart of the server the Jobs of its runs are waited for, and their results are lost",
    ],
  ),
  ...of(
    "pods",
    "",
    ["list", "required", "the state of all runs' pods, once at the start", "exit codes and start failures are not seen"],
    ["watch", "required", "changes of all runs' pods, without polling", "exit codes and start failures are not seen"],
    [
      "get",
      "optional",
      "the pod this process itself runs in, whose image, claim, environment and scheduling runs take over",
      "nothing is inherited: namespace, image and data claim must be set explicitly",
    ],
    [
      "patch",
      "optional",
      "the new run's id on a pod that is taken over, so that its token arrives at once",
      "an agent that is taken over gets its new token a minute or two late",
    ],
  ),
  ...of(
    "secrets",
    "",
    ["create", "required", "prompt, environment and tokens of a run, kept out of the Job", "no run can start"],
    [
      "patch",
      "optional",
      "the new run's token for an agent that is taken over",
      "an agent that is taken over keeps its old token, and the host may refuse what it writes",
    ],
  ),
  ...of("events", "", [
    "list",
    "optional",
    "why a pod does not start",
    "a start failure is reported without the cluster's own explanation",
  ]),
  ...of(
    "persistentvolumeclaims",
    "",
    [
      "get",
      "optional",
      "whether the claims of a run are there and usable: the shared volume's in the check of the environment, an agent's own before its runs",
      "what kind of volume the shared claim is is not known, and an agent's own claim is not looked at before its runs",
    ],
    ["create", "optional", "an agent's own claim, once", "an agent's own claim must be made by hand"],
  ),
  ...of("storageclasses", "storage.k8s.io", [
    "get",
    "optional",
    "whether the storage class of an agent's own claim exists, in the check of the environment",
    "a storage class that does not exist shows only when the claim stays unbound",
  ]),
];

/**
 * Asked for only where runs use objects of a namespace that is not this process's own, and granted by no file of ours: who may get Secrets
 * may read them.
 */
export const lookUpPermissions: readonly Permission[] = [
  ...of("secrets", "", [
    "get",
    "optional",
    "whether the Secrets that runs take by name are in their namespace; only metadata is asked for",
    "they are taken by name without a look: one that is missing shows when the pod starts",
  ]),
  ...of("configmaps", "", ["get", "optional", "the same for ConfigMaps", "the same for ConfigMaps"]),
];

/** What every account may do by default (ClusterRole system:basic-user), so that no Role needs it: ask what it may do. */
export const allowedToAll = { verb: "create", resource: "selfsubjectaccessreviews", group: "authorization.k8s.io" } as const;

/** As RBAC's own messages name it: "jobs.batch", but "pods". */
export const qualified = ({ resource, group }: { readonly resource: string; readonly group: string }): string =>
  group === "" ? resource : `${resource}.${group}`;

/** A permission the account turned out to lack. */
export interface DeniedAccess {
  readonly verb: string;
  readonly resource: string;
  readonly group: string;
  readonly namespace: string | null;
  /** The account, where it is known. */
  readonly user: string | null;
}

// The authorizer's words. A quota, an admission plugin or a webhook answers 403 too, with words of its own: no permission helps there.
const DENIAL =
  /(?:User "(?<user>[^"]*)" )?cannot (?<verb>[a-z]+) resource "(?<resource>[^"]+)" in API group "(?<group>[^"]*)"(?: in the namespace "(?<namespace>[^"]+)")?/;

/** What a 403 names as missing; null = it is about something else than permissions. */
export function deniedAccess(message: string): DeniedAccess | null {
  const found = DENIAL.exec(message)?.groups;
  if (found === undefined) return null;
  const { verb = "", resource = "", group = "", namespace = null, user = null } = found;
  return { verb, resource, group, namespace, user };
}

/** For people: what is not allowed, and the row of the table that would allow it. */
export function denialText(denied: DeniedAccess): string {
  const where = denied.namespace === null ? "" : ` in namespace ${denied.namespace}`;
  const who = denied.user === null ? "the account" : `account ${denied.user}`;
  const row = permissionFor(denied);
  const why = row === null ? "" : ` (${row.why})`;
  return `not allowed to ${denied.verb} ${denied.resource}${where}: ${who} needs "${denied.verb}" on "${qualified(denied)}"${why}`;
}

export function permissionFor({ verb, resource, group }: Pick<DeniedAccess, "verb" | "resource" | "group">): Permission | null {
  return (
    [...permissions, ...lookUpPermissions].find((row) => row.verb === verb && row.resource === resource && row.group === group) ?? null
  );
}
