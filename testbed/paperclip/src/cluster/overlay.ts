import { randomBytes } from "node:crypto";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../run.ts";
import { ROOT } from "../server/release.ts";
import type { Images } from "./image.ts";

/** What of deploy/ is another matter on each cluster. */
export interface Overlay {
  /** The server's namespace. */
  readonly namespace: string;
  /** A folder of the node: the volume that server and agents share. */
  readonly data: string;
  readonly images: Images;
  /** There is no name server in the test's cluster, so the Service gets a known address. */
  readonly serviceAddress: string;
  /** Where the browser sees the server. */
  readonly origin: string;
  /** Keys and addresses of models, which agents inherit. */
  readonly providers: Readonly<Record<string, string>>;
}

/** Label of every object of one server, and of its namespace the process that removes it. */
export const SERVER = "paperclip-testbed/server";
export const OWNER = "paperclip-testbed/owner";
export const agentsOf = (namespace: string): string => `${namespace}-agents`;
/** Inherited by agents too. */
export const NODE_SELECTOR = { "kubernetes.io/os": "linux" } as const;
export const TOLERATIONS = [{ key: "agents-only", operator: "Exists", effect: "NoSchedule" }] as const;

/** A folder of the shared volume, as pods see it, in which tests and agents meet. */
export const MEETING_PLACE = "/paperclip/live-tasks";
/** Lines at the end of the policy file of deploy/: what tests need beyond it. */
const MORE_POLICY = `
    agents:
      # Small, so that many run at once on a small machine.
      - match: { type: "*_local" }
        defaults: { resources: { requests: { cpu: 120m, memory: 128Mi } } }
    allow:
      retainJobs: true
    volume:
      paths:
        - { path: ${MEETING_PLACE}, readOnly: false }
`;

/** Copies deploy/ to the folder, under other names, and puts a kustomization on top of it, as an operator would. */
export async function writeOverlay(folder: string, overlay: Overlay): Promise<void> {
  await mkdir(folder, { recursive: true });
  await cp(join(ROOT, "deploy"), join(folder, "base"), { recursive: true });
  await run("sh", [join(folder, "base/rename.sh"), overlay.namespace, agentsOf(overlay.namespace)]);
  await addToPolicy(join(folder, "base/policy.yaml"), overlay.images);
  await writeFile(join(folder, "kustomization.yaml"), JSON.stringify(kustomization(overlay), null, 2));
}

/** As the guide has an operator do: kustomize knows no images in a ConfigMap. */
async function addToPolicy(file: string, { agents }: Images): Promise<void> {
  await writeFile(file, `${(await readFile(file, "utf8")).replace("image: agent-clis:1", `image: ${agents}`)}${MORE_POLICY}`);
}

// JSON is YAML too.
function kustomization({ namespace, data, images, serviceAddress, providers, origin }: Overlay) {
  const [newName, newTag] = splitTag(images.server);
  const secret = () => randomBytes(32).toString("hex");
  const literals = (values: Readonly<Record<string, string>>) => Object.entries(values).map(([name, value]) => `${name}=${value}`);
  return {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: ["base"],
    labels: [{ pairs: { [SERVER]: namespace } }],
    images: [{ name: "paperclip", newName, newTag }],
    generatorOptions: { disableNameSuffixHash: true },
    secretGenerator: [
      { name: "paperclip", namespace, literals: literals({ BETTER_AUTH_SECRET: secret(), PAPERCLIP_AGENT_JWT_SECRET: secret() }) },
      { name: "paperclip-providers", namespace, literals: literals(providers) },
    ],
    patches: [
      { target: { kind: "PersistentVolume" }, patch: JSON.stringify(volume(data)) },
      { target: { kind: "Namespace", name: namespace }, patch: JSON.stringify(owned()) },
      { target: { kind: "Service" }, patch: JSON.stringify([{ op: "add", path: "/spec/clusterIP", value: serviceAddress }]) },
      { target: { kind: "Deployment" }, patch: JSON.stringify(deployment(serviceAddress, origin)) },
    ],
  };
}

/** The cluster has no NFS server. */
const volume = (path: string) => [
  { op: "remove", path: "/spec/nfs" },
  { op: "add", path: "/spec/hostPath", value: { path } },
];

const owned = () => [{ op: "add", path: `/metadata/labels/${OWNER.replace("/", "~1")}`, value: String(process.pid) }];

function deployment(serviceAddress: string, origin: string) {
  const env = {
    PAPERCLIP_API_URL: `http://${serviceAddress}:3100`,
    PAPERCLIP_ALLOWED_HOSTNAMES: serviceAddress,
    // The forwarded port is not 3100.
    BETTER_AUTH_TRUSTED_ORIGINS: origin,
    PAPERCLIP_TELEMETRY_DISABLED: "1",
    PAPERCLIP_ANNOUNCEMENTS_ENABLED: "false",
    PAPERCLIP_DB_BACKUP_ENABLED: "false",
  };
  const container = { name: "paperclip", env: Object.entries(env).map(([name, value]) => ({ name, value })) };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "paperclip" },
    spec: { template: { spec: { nodeSelector: NODE_SELECTOR, tolerations: TOLERATIONS, containers: [container] } } },
  };
}

function splitTag(image: string): [string, string] {
  const at = image.lastIndexOf(":");
  return [image.slice(0, at), image.slice(at + 1)];
}
