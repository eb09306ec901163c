import type { PodTemplate } from "@paperclip-k8s/engine";
import { EMPTY_TEMPLATE, type OfferedTemplate } from "../policy/pod-template.ts";
import type { Policy } from "../policy/policy.ts";
import type { AgentConfig } from "../settings/agent-config.ts";

/** The template of this agent's pods: the one that the operator forces, else the agent's choice. */
export function chosenTemplate({ podTemplate }: Pick<AgentConfig, "podTemplate">, { force, podTemplates }: Policy): OfferedTemplate {
  const name = force.podTemplate ?? podTemplate;
  return name !== null && Object.hasOwn(podTemplates, name) ? (podTemplates[name] ?? EMPTY_TEMPLATE) : EMPTY_TEMPLATE;
}

/** Of a template, what is added to the pod's spec; the rest of it is among the run's own fields. Null = nothing. */
export function templateParts(template: OfferedTemplate): PodTemplate | null {
  if (template === EMPTY_TEMPLATE) return null;
  const { containers, initContainers, volumes, agent, affinity, topologySpreadConstraints, hostAliases, schedulerName } = template;
  return {
    initContainers,
    sidecars: containers,
    volumes,
    ...agent,
    ...(affinity === null ? {} : { affinity }),
    ...(topologySpreadConstraints === null ? {} : { topologySpreadConstraints }),
    ...(hostAliases === null ? {} : { hostAliases }),
    ...(schedulerName === null ? {} : { schedulerName }),
  };
}
