import { expect, test } from "vitest";
import type { PodView } from "../kube/views.ts";
import { disruption as disruptionOf } from "./disruption.ts";
import { condition, pod, running } from "./testing/example-facts.ts";

const disruption = (seen: PodView) => disruptionOf(seen, "agent");
const target = (reason: string, message: string | null = null) => ({ DisruptionTarget: { ...condition(reason, message), status: "True" } });

test("nothing disturbs a pod that nobody named", () => {
  expect(disruption(pod(running))).toBeNull();
  expect(
    disruption(pod(running, { conditions: { DisruptionTarget: { ...condition("PreemptionByScheduler"), status: "False" } } })),
  ).toBeNull();
});

test("a node short of memory: what the pod set aside decides who goes", () => {
  const message =
    "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. Container agent was using 2Gi, request is 1Gi. ";
  const evicted = pod(running, {
    reason: "Evicted",
    message,
    conditions: target("TerminationByKubelet", message),
    resources: { agent: { "requests.memory": "1Gi" } },
  });
  expect(disruption(evicted)).toEqual({
    by: "eviction",
    message: `the kubelet of node node1 evicted the pod: ${message.slice(0, -2)}`,
    remedy: "raise resources.requests.memory, now 1Gi",
  });
});

test("a full disk", () => {
  const evicted = pod(running, { reason: "Evicted", message: "The node was low on resource: ephemeral-storage." });
  expect(disruption(evicted)?.remedy).toMatch(/disk/);
});

test.each([
  "Pod ephemeral local storage usage exceeds the total limit of containers 20Mi. ",
  'Container agent exceeded its local ephemeral storage limit "20Mi". ',
])("a pod beyond its own limit: %s", (message) => {
  expect(disruption(pod(running, { reason: "Evicted", message }))).toEqual({
    by: "eviction",
    message: `the kubelet of node node1 evicted the pod: ${message.slice(0, -2)}`,
    remedy: "the run must keep less in its home and temporary folder, or raise limits.ephemeralStorage in the policy",
  });
});

test("a node that shuts down, and one that is removed", () => {
  const shutdown = { reason: "Terminated", message: "Pod was terminated in response to imminent node shutdown." };
  expect(disruption(pod(running, { ...shutdown, conditions: target("TerminationByKubelet") }))).toMatchObject({
    by: "eviction",
    message: "node node1 was shut down: Pod was terminated in response to imminent node shutdown",
  });
  expect(disruption(pod(running, { conditions: target("DeletionByPodGC", "PodGC: node no longer exists") }))).toMatchObject({
    by: "node-loss",
    message: "node node1 is gone: PodGC: node no longer exists",
  });
});
