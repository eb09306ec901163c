import { allowedToAll, lookUpPermissions, type Permission, permissions, qualified } from "../../packages/engine/src/kube/permissions.ts";
import { clusterRbacObjects, rbacObjects, rbacYaml } from "./rbac.ts";

const HEAD = `# The server's account, what it may do in the agents' namespace, and that it may read its own pod.
# Written from the table of permissions by \`npm run docs\`: change it there. admission/ narrows it further.
`;

const CLUSTER_HEAD = `# What the Paperclip server may ask of the whole cluster, if its administrator grants it; without it nothing but a check of the "Test" button is missing.
# Written from the table of permissions by \`npm run docs\`.
`;
const NAMES = { namespace: "paperclip", runs: "paperclip-agents", name: "paperclip", labels: { "app.kubernetes.io/part-of": "paperclip" } };

/** deploy/rbac.yaml */
export function rbacFile(): string {
  return HEAD + rbacYaml(permissions, rbacObjects(permissions, NAMES));
}

/** deploy/rbac-cluster.yaml */
export function clusterRbacFile(): string {
  return CLUSTER_HEAD + rbacYaml(permissions, clusterRbacObjects(permissions, NAMES));
}

/** The table of docs/permissions.md. */
export function permissionTable(): string {
  const all =
    `Besides, \`${allowedToAll.verb}\` on \`${qualified(allowedToAll)}\` is used, and \`GET /version\` while runs wait and the API server has been ` +
    "quiet for 20 s, to notice one that does not answer. Every account may do both by default (ClusterRoles `system:basic-user` and " +
    "`system:public-info-viewer`).";
  const lookUps =
    "With an agent in a namespace that is not the server's and in which objects of the same names are meant ([configure.md](configure.md#run-agents-in-another-namespace)), " +
    "two more are used if they are granted. `deploy/` does not grant them: who may get Secrets may read them.";
  return [...tableOf(permissions), "", all, "", lookUps, "", ...tableOf(lookUpPermissions)].join("\n");
}

const tableOf = (rows: readonly Permission[]): string[] => [
  "| verb | resource | | what for | what is lost without it |",
  "|---|---|---|---|---|",
  ...rows.map(
    (row) => `| \`${row.verb}\` | \`${qualified(row)}\` | ${row.required ? "required" : "optional"} | ${row.why} | ${row.lostWithout} |`,
  ),
];
