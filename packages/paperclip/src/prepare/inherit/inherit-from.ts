import { findOwnPod, type OwnPod } from "@paperclip-k8s/engine";
import type { AgentCli } from "../../agent-cli/agent-cli.ts";
import { enforceLikePod } from "../../policy/enforce-pod.ts";
import type { Policy } from "../../policy/policy.ts";
import type { AgentConfig } from "../../settings/agent-config.ts";
import { ConfigError } from "../../settings/config-error.ts";
import { clusterFields, SERVER_CONTAINER_NAMES } from "../../settings/fields/cluster.ts";
import { settingName } from "../../settings/setting-name.ts";
import { isOpen } from "./denylist.ts";
import { inheritClaim } from "./inherit-claim.ts";
import { inheritEnv } from "./inherit-env.ts";
import { inheritVolumes } from "./inherit-volumes.ts";
import type { Findings, Inherited, InheritFacts, InheritSettings } from "./inherited.ts";
import { decideWithLookUps, meansSameNames, noObjects, ownObjects, type RunObjects } from "./run-objects.ts";
import { ServerPod } from "./server-pod.ts";

const INHERIT_NAMES = settingName(clusterFields.inheritNames);

/** Image, namespace, volume and the rest, from the pod this server runs in, where the settings do not say otherwise. */
export async function inherit(cli: AgentCli, config: AgentConfig, serverEnv: NodeJS.ProcessEnv, policy: Policy): Promise<Inherited> {
  const containers = config.serverContainer === null ? SERVER_CONTAINER_NAMES : [config.serverContainer];
  const found = await findOwnPod({ kubeconfig: config.kubeconfig }, { env: serverEnv, containers });
  enforceLikePod(config, policy, found.pod).check();
  const facts = { env: serverEnv, variables: cli.variables };
  if (found.pod === null) return inheritFrom(null, config, { ...facts, noPod: found.why });
  const { pod } = found;
  const namespace = config.namespace ?? pod.namespace;
  if (namespace === pod.namespace || !meansSameNames(policy, namespace)) return inheritFrom(pod, config, facts);
  return decideWithLookUps({ kubeconfig: config.kubeconfig }, namespace, (elsewhere) => inheritFrom(pod, config, { ...facts, elsewhere }));
}

/** What a run's pod inherits from the server's pod. Throws a ConfigError if the two could not work together. */
export function inheritFrom(pod: OwnPod | null, settings: InheritSettings, facts: InheritFacts): Inherited {
  return pod === null ? withoutPod(settings, facts) : withPod(pod, settings, facts);
}

function withPod(
  pod: OwnPod,
  settings: InheritSettings,
  { env: serverEnv = {}, variables, elsewhere = noObjects() }: InheritFacts,
): Inherited {
  const findings: Findings = { notes: [], warnings: [] };
  const namespace = settings.namespace ?? pod.namespace;
  const objects = namespace === pod.namespace ? ownObjects() : elsewhere;
  const image = settings.image ?? pod.image;
  if (objects.reach === "none")
    findings.notes.push(`namespace ${namespace} is not the server's: values are copied, files of Secrets and ConfigMaps are not there`);
  if (image === "") throw new ConfigError("image", `the server's container ${pod.container} does not name its image; set it`);
  const claim = inheritClaim(pod, settings, serverEnv, objects, findings);
  findings.notes.push(`claim ${claim.name} at ${claim.mountPath}${claim.subPath === null ? "" : `, below ${claim.subPath}`}`);
  const server = new ServerPod(pod, settings, { variables, env: serverEnv });
  const { env, files } = inheritEnv({ server, settings, objects }, findings);
  const volumes = inheritVolumes({ server, settings, objects }, files, findings);
  checkNames(server, settings, findings);
  const imagePullSecrets = pullSecrets(pod, objects, findings);
  findings.notes.push(...objects.notes(namespace), ...schedulingNotes(pod, settings));
  return {
    namespace,
    image,
    imagePullSecrets,
    // The other policies are the default of a pod without host network.
    dnsPolicy: pod.dnsPolicy === "None" || pod.dnsPolicy === "Default" ? pod.dnsPolicy : null,
    dnsConfig: pod.dnsConfig,
    claim,
    env,
    secretVolumes: volumes.secrets,
    configMapVolumes: volumes.configMaps,
    // The agent's settings win, also if they are empty on purpose (`{}`, `[]`).
    nodeSelector: settings.nodeSelector ?? pod.nodeSelector,
    tolerations: settings.tolerations ?? pod.tolerations,
    ...findings,
  };
}

function withoutPod(settings: InheritSettings, { noPod }: InheritFacts): Inherited {
  const { namespace, image, dataClaim, dataPath } = settings;
  const why = noPod ?? "the server does not run in a pod";
  if (namespace === null || image === null || dataClaim === null) {
    const missing = Object.entries({ namespace, image, dataClaim }).flatMap(([name, value]) => (value === null ? [name] : []));
    throw new ConfigError(
      missing.join(", "),
      `must be set, as there is nothing to take ${missing.length > 1 ? "them" : "it"} from: ${why}`,
    );
  }
  return {
    namespace,
    image,
    imagePullSecrets: [],
    dnsPolicy: null,
    dnsConfig: null,
    claim: { name: dataClaim, mountPath: dataPath, subPath: null },
    env: { literals: {}, references: [], from: [], hidden: [] },
    secretVolumes: [],
    configMapVolumes: [],
    nodeSelector: settings.nodeSelector ?? {},
    tolerations: settings.tolerations ?? [],
    notes: [`nothing is inherited: ${why}`],
    warnings: settings.inheritNames.length === 0 ? [] : [`${INHERIT_NAMES} has no effect: ${why}`],
  };
}

function pullSecrets(pod: OwnPod, objects: RunObjects, { warnings }: Findings): readonly string[] {
  const taken = pod.imagePullSecrets.filter((name) => objects.take("secret", name));
  const missing = pod.imagePullSecrets.filter((name) => !taken.includes(name));
  if (missing.length > 0)
    warnings.push(`pull secrets not taken: ${objects.whyNot}, or give them to the service account runs have there: ${missing.join(", ")}`);
  return taken;
}

/** Where the server's pod may run, its runs run too, unless the settings say otherwise: said, because earlier versions had none then. */
function schedulingNotes(pod: OwnPod, { nodeSelector, tolerations }: InheritSettings): string[] {
  const labels = nodeSelector === null ? Object.entries(pod.nodeSelector).map(([key, value]) => `${key}=${value}`) : [];
  const keys = tolerations === null ? pod.tolerations.map(({ key }) => (typeof key === "string" ? key : "every taint")) : [];
  return [
    ...(labels.length === 0
      ? []
      : [`node selector of the server's pod taken: ${labels.join(", ")}; "none" in Node selector leaves it out`]),
    ...(keys.length === 0 ? [] : [`tolerations of the server's pod taken: ${keys.join(", ")}; "none" in Tolerations leaves them out`]),
  ];
}

/** Warns about names without an effect: they are misspelt or misunderstood. */
function checkNames(server: ServerPod, { inheritNames }: InheritSettings, { warnings }: Findings): void {
  const { pod, rules } = server;
  const objects = [...pod.envFrom, ...pod.secretVolumes, ...pod.configMapVolumes].map(({ name }) => name);
  const ownFiles = new Set([...server.secretMounts].flatMap((mount) => ("volume" in mount ? [mount.volume.name] : [])));
  const variables = new Set([...pod.env, ...server.fromWholeObjects].map(({ name }) => name));
  for (const name of inheritNames.filter((each) => !isOpen(each))) {
    const decision = variables.has(name) ? rules.decide(name) : null;
    if (typeof decision === "object" && decision !== null)
      warnings.push(
        `${INHERIT_NAMES}: ${name} is not given to agents (${decision.why}); if it must be, set it under Environment variables`,
      );
    else if (ownFiles.has(name)) warnings.push(`${INHERIT_NAMES}: ${name} holds the server's own secrets and is not given to agents`);
    else if (!variables.has(name) && !objects.includes(name)) warnings.push(`${INHERIT_NAMES}: the server's pod has no ${name}`);
  }
}
