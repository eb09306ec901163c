import type { OwnPod } from "@paperclip-k8s/engine";
import { isBelow } from "../host/context-values.ts";
import type { AgentConfig } from "../settings/agent-config.ts";
import { allows, allowsLabel } from "./patterns.ts";
import type { Policy } from "./policy.ts";
import { Refusals } from "./refusal.ts";

/** What the server's own pod has, its agents may have too; the rest is the policy's. `pod` null = it is not known. */
export function enforceLikePod(
  config: Pick<AgentConfig, "dataClaim" | "dataPath" | "nodeSelector" | "tolerations">,
  policy: Policy,
  pod: Pick<OwnPod, "claims" | "nodeSelector" | "tolerations"> | null,
): Refusals {
  const { allow, defaults } = policy;
  const { dataClaim, nodeSelector, tolerations } = config;
  const refusals = new Refusals(policy);
  const ownClaims: readonly unknown[] = [defaults.dataClaim, pod === null ? null : claimAt(pod, config.dataPath)];
  if (dataClaim !== null && !ownClaims.includes(dataClaim) && !allows(allow.claims, dataClaim))
    refusals.notListed("dataClaim", "claims", dataClaim);
  for (const [key, value] of Object.entries(nodeSelector ?? {}))
    if (![pod?.nodeSelector[key], defaults.nodeSelector?.[key]].includes(value) && !allowsLabel(allow.nodeSelectors, key, value))
      refusals.notListed("nodeSelector", "nodeSelectors", `${key}=${value}`);
  (tolerations ?? []).forEach((toleration, index) => {
    const { key } = toleration;
    const isOwn = [...(pod?.tolerations ?? []), ...(defaults.tolerations ?? [])].some((own) => isSame({ ...own }, { ...toleration }));
    const field = `tolerations[${index}]`;
    if (isOwn) return;
    if (key === undefined)
      refusals.never(field, "a toleration without a key accepts every taint, also of nodes that run the cluster; name the key");
    else if (!allows(allow.tolerations, key)) refusals.notListed(field, "tolerations", key);
  });
  return refusals;
}

/** The claim that has the data path; the server may mount others, for other things. */
function claimAt({ claims }: Pick<OwnPod, "claims">, dataPath: string): string | null {
  const around = claims.filter(({ mountPath }) => isBelow(dataPath, mountPath)).sort((a, b) => b.mountPath.length - a.mountPath.length);
  return around[0]?.claimName ?? null;
}

/** Of fields without fields of their own. */
function isSame(one: Readonly<Record<string, unknown>>, other: Readonly<Record<string, unknown>>): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => Object.hasOwn(other, name) && one[name] === other[name]);
}
