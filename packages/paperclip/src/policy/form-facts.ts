import { ownPodIdentity } from "@paperclip-k8s/engine";
import type { Raw } from "../settings/field.ts";
import type { FormFacts } from "../settings/form.ts";
import { defaultsOf } from "./defaults-of.ts";
import { forAgent } from "./for-agent.ts";
import { loadPolicy } from "./load-policy.ts";
import { allows } from "./patterns.ts";
import { DEFAULT_POLICY, type Policy } from "./policy.ts";

/** What the operator's policy and the server's place leave to choose in the form. */
export async function formFacts(serverEnv: NodeJS.ProcessEnv, cli: Parameters<typeof forAgent>[2]): Promise<FormFacts> {
  // A policy that cannot be used stops every run and every test, which say why: no reason to show no form at all.
  const { policy, defaults } = await loadPolicy(serverEnv)
    .then((loaded) => forAgent(loaded, {}, cli))
    .catch(() => ({ policy: DEFAULT_POLICY, defaults: {} }));
  const inPod = (await ownPodIdentity(serverEnv)) !== null;
  return factsOf(policy, { inPod, ownKubeconfig: Boolean(serverEnv.KUBECONFIG) }, defaults);
}

interface Place {
  /** Whether the server runs in a pod, from which settings can be taken. */
  readonly inPod: boolean;
  /** Whether the server itself is pointed at a kubeconfig, which agents may then choose. */
  readonly ownKubeconfig: boolean;
}

export function factsOf(policy: Policy, { inPod, ownKubeconfig }: Place, given: Raw = defaultsOf(policy)): FormFacts {
  const { allow, defaults, force } = policy;
  /** True if an agent has no choice: the policy lists no other value, and there is a default or the server pod's own. */
  const hasNoChoice = (list: readonly string[], usual: string | null | undefined): boolean => list.length === 0 && (usual != null || inPod);
  const decided: Readonly<Record<string, boolean>> = {
    kubeconfig: hasNoChoice(allow.kubeconfigs, defaults.kubeconfig) && !ownKubeconfig,
    namespace: hasNoChoice(allow.namespaces, defaults.namespace),
    image: hasNoChoice(allow.images, defaults.image),
    dataClaim: hasNoChoice(allow.claims, defaults.dataClaim),
    dataPath: allow.dataPaths.length === 0,
    serviceAccountName: allow.serviceAccounts.length === 0,
    runtimeClassName: force.runtimeClassName !== null || allow.runtimeClasses.length === 0,
    podTemplate: force.podTemplate !== null || !Object.keys(policy.podTemplates).some((name) => allows(allow.podTemplates, name)),
    agentDbStorageClass: allow.storageClasses.length === 0,
    labels: allow.labels.length === 0,
    nodeSelector: allow.nodeSelectors.length === 0,
    tolerations: allow.tolerations.length === 0,
    retainJobs: !allow.retainJobs,
    // Without a pod of the server's own there is nothing to inherit.
    serverContainer: !inPod,
    inherit: !inPod || !allow.inheritAll,
    inheritNames: !inPod || (allow.inheritedEnvironment.length === 0 && allow.secrets.length === 0),
  };
  const missing = (["kubeconfig", "namespace", "image", "dataClaim"] as const).filter((key) => !inPod && defaults[key] == null);
  return {
    fixed: new Set(Object.keys(decided).filter((key) => decided[key])),
    needed: new Set<string>(missing),
    defaults: given,
  };
}
