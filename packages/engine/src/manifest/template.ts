import { RequestError } from "../errors.ts";
import { overlaps } from "../overlaps.ts";
import type { PodTemplate } from "../request.ts";

type Plain = Readonly<Record<string, unknown>>;

/** What Pod Security "restricted" asks of every container; a template may say otherwise of its own. */
const RESTRICTED: Plain = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ["ALL"] },
  seccompProfile: { type: "RuntimeDefault" },
};

const POD_FIELDS = ["affinity", "topologySpreadConstraints", "hostAliases", "schedulerName"] as const;

/** Adds a template to a pod's spec. What the spec has already stays as it is; a part of the template that would take its place is refused. */
export function applyTemplate(spec: Plain, template: PodTemplate | null | undefined, container: string): Plain {
  if (template == null) return spec;
  const mine = objects(spec.containers);
  const before = objects(spec.initContainers);
  const given = [...template.initContainers.map(initContainer), ...template.sidecars.map(sidecar)];
  const hidden = spec.automountServiceAccountToken === true && given.length > 0;
  const added = hidden ? given.map(withoutToken) : given;
  const volumes = hidden ? [...template.volumes, { name: NO_TOKEN, emptyDir: {} }] : template.volumes;
  distinct("container", [...mine, ...before], added);
  distinct("volume", objects(spec.volumes), volumes);
  return {
    ...Object.fromEntries(POD_FIELDS.flatMap((field) => (template[field] === undefined ? [] : [[field, template[field]]]))),
    ...spec,
    ...(before.length + added.length === 0 ? {} : { initContainers: [...before, ...added] }),
    volumes: [...objects(spec.volumes), ...volumes],
    containers: mine.map((each) => (each.name === container ? extended(each, template) : each)),
  };
}

function initContainer(given: Plain): Plain {
  const { securityContext } = given;
  return {
    terminationMessagePolicy: "FallbackToLogsOnError",
    ...given,
    securityContext: { ...RESTRICTED, ...(typeof securityContext === "object" ? securityContext : {}) },
  };
}

/** A native sidecar: the pod ends when the run's container ends, whatever this one does. */
const sidecar = (given: Plain): Plain => ({ ...initContainer(given), restartPolicy: "Always" });

const NO_TOKEN = "agent-no-token";
const TOKEN_MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The token of the run's service account is for its own container: Kubernetes mounts none where something is mounted already. */
function withoutToken(given: Plain): Plain {
  const mounts = objects(given.volumeMounts);
  if (mounts.some(({ mountPath }) => mountPath === TOKEN_MOUNT)) return given;
  return { ...given, volumeMounts: [...mounts, { name: NO_TOKEN, mountPath: TOKEN_MOUNT, readOnly: true }] };
}

function extended(main: Plain, { volumeMounts, env }: PodTemplate): Plain {
  const mounts = objects(main.volumeMounts);
  for (const { mountPath } of volumeMounts) {
    const taken = mounts.find((mount) => overlaps(String(mount.mountPath), mountPath));
    if (taken !== undefined)
      throw new RequestError(
        "request_invalid",
        `the pod template mounts a volume at ${mountPath}, where the run itself has ${taken.mountPath} (volume "${taken.name}")`,
      );
  }
  const own = objects(main.env);
  const more = env.filter(({ name }) => !own.some((each) => each.name === name));
  return {
    ...main,
    ...(own.length + more.length === 0 ? {} : { env: [...own, ...more] }),
    volumeMounts: [...mounts, ...volumeMounts],
  };
}

function distinct(what: string, mine: readonly Plain[], added: readonly Plain[]): void {
  const taken = new Set(mine.map(({ name }) => name));
  for (const { name } of added) {
    if (taken.has(name))
      throw new RequestError("request_invalid", `the pod template has a ${what} named ${name}, which the run's pod has already`);
    taken.add(name);
  }
}

const objects = (value: unknown): readonly Plain[] => (Array.isArray(value) ? (value as readonly Plain[]) : []);
