import { describe, expect, test } from "vitest";
import type { RunOutcome } from "../run-outcome.ts";
import { recorded, recordedCases } from "./testing/recorded.ts";
import { replay } from "./testing/replay.ts";

// What a run makes of the objects a real cluster showed: each case of testing/pod-status, through projection, reducer and status lines.

const MISSING = { image: "localhost/missing:1" };
const PULLING = new Set(["image-pull-backoff", "deadline-before-start"]);
const BAD_NAME = { image: "Bad Name:::1" };
const NOT_PULLED =
  "image localhost/missing:1 cannot be pulled: dial tcp 127.0.0.1:80: connect: connection refused; check image and that the node reaches its registry";
const MORE_MEMORY = "raise resources.limits.memory, now 128Mi";
const EVICTED = "the pod was evicted through the API, as a drain or an autoscaler does";
const VIOLATION =
  'violates PodSecurity "restricted:latest": privileged (container "agent" must not set securityContext.privileged=true), ' +
  'allowPrivilegeEscalation != false (container "agent" must set securityContext.allowPrivilegeEscalation=false), ' +
  'unrestricted capabilities (container "agent" must set securityContext.capabilities.drop=["ALL"])';

function summary(outcome: RunOutcome | null): string {
  switch (outcome?.kind) {
    case undefined:
      return "goes on";
    case "exited":
      return `exited ${outcome.exitCode}`;
    case "timed-out":
      return `timed out by ${outcome.by} (${outcome.exitCode})`;
    case "never-started":
      return `${outcome.cause}${outcome.permanent ? ", permanent" : ""}: ${outcome.message}`;
    case "killed":
      return `${outcome.by} (${outcome.exitCode}): ${outcome.message}${outcome.remedy === null ? "" : `; ${outcome.remedy}`}`;
    case "deleted":
      return `${outcome.what} deleted (${outcome.exitCode}): ${outcome.message}`;
    default:
      return outcome?.kind ?? "";
  }
}

const ends: Readonly<Record<string, string>> = {
  completed: "exited 0",
  running: "goes on",
  "exit-3": "exited 3",
  "exit-3-no-message": "exited 3",
  "retry-backoff": "exited 3",
  "pod-failure-policy": "exited 42",
  "start-error":
    'start-error, permanent: the container could not be started: exec: "/no/such/binary": stat /no/such/binary: no such file or directory; ' +
    "image localhost/agent:1 must have that program, for this platform and user",
  "init-failed": "init-failed: init container setup exited with code 5",
  "oom-killed": `oom (137): out of memory: OOMKilled, limit 128Mi; ${MORE_MEMORY}`,
  "oom-killed-wrapped": `oom (137): out of memory: OOMKilled, limit 128Mi; ${MORE_MEMORY}`,
  "oom-child": "exited 0",
  "deadline-exceeded": "timed out by deadline (137)",
  "deadline-before-start": `deadline: the Job's deadline passed before its container started: ${NOT_PULLED}`,
  "deadline-exceeded-pod": "timed out by deadline (137)",
  "evicted-disruption": `eviction (143): ${EVICTED}`,
  "evicted-disruption-terminating": "goes on",
  "evicted-kubelet":
    'eviction (null): the kubelet of node node1 evicted the pod: Usage of EmptyDir volume "e" exceeds the limit "5Mi"; the run must keep less in volume e',
  preempted: "preemption (143): the pod was preempted: it had to make room for one of higher priority",
  "preempted-terminating": "goes on",
  "pod-deleted": "pod deleted (137): pod pod-deleted-vxdhc was deleted from outside",
  "pod-force-deleted": "pod deleted (null): pod pod-force-deleted-shqwj was deleted from outside; its container was last seen running",
  "job-deleted": "job deleted (143): Job agent-worker was deleted from outside",
  suspended: "pod deleted (143): Job agent-worker was suspended from outside (spec.suspend), which deletes its pod",
  "node-lost": "goes on",
  "node-lost-tainted": "node-loss (null): node node2 was lost, or tainted so that the pod had to go; the pod may still run there",
  "image-pull-err": `image: ${NOT_PULLED}; gave up after 60 s`,
  "image-pull-backoff": `image: ${NOT_PULLED}; gave up after 60 s`,
  "image-never-pull": "image, permanent: image localhost/missing:1 is not on the node, and imagePullPolicy Never forbids to pull it",
  "invalid-image-name":
    'image, permanent: "Bad Name:::1" is not an image name: invalid reference format: repository name (library/Bad Name) must be lowercase; change image',
  "unschedulable-cpu":
    "unschedulable: no node took the pod: 0/1 nodes are available: 1 Insufficient cpu; lower resources.requests.cpu or add a node; " +
    "gave up after 60 s (scheduleTimeoutSec)",
  "unschedulable-selector":
    "unschedulable: no node took the pod: 0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector; " +
    "change nodeSelector, or label a node; gave up after 60 s (scheduleTimeoutSec)",
  "pvc-not-found":
    'unschedulable: no node took the pod: 0/1 nodes are available: persistentvolumeclaim "missing" not found; ' +
    "create claim missing in namespace agents, or name another; gave up after 60 s (scheduleTimeoutSec)",
  "pvc-unbound":
    "unschedulable: no node took the pod: 0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims; " +
    "its claim is not bound: give it a volume or a storage class; gave up after 60 s (scheduleTimeoutSec)",
  "secret-volume-missing":
    'volume-mount: a volume could not be mounted: volume "s": secret "missing" not found; create it in namespace agents; gave up after 180 s',
  "create-container-config-error":
    'container-config: the container cannot be made (CreateContainerConfigError): secret "missing" not found; ' +
    "create it in namespace agents, or drop the variable that needs it; gave up after 30 s",
  "run-as-root-denied":
    "container-config, permanent: the container cannot be made (CreateContainerConfigError): container has runAsNonRoot and image will run as root; " +
    "use an image whose user is not root; gave up after 30 s",
  "missing-serviceaccount":
    'no-pod, permanent: the Job made no pod: error looking up service account imgtest/missing: serviceaccount "missing" not found; ' +
    "create ServiceAccount missing in namespace agents, or change serviceAccountName; gave up after 30 s",
  "pod-security-denied": `no-pod, permanent: the Job made no pod: ${VIOLATION}; namespace agents must allow it (label pod-security.kubernetes.io/enforce); gave up after 30 s`,
  "quota-no-pod":
    "no-pod: the Job made no pod: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0; " +
    "raise or free ResourceQuota q of namespace agents; gave up after 30 s",
  "quota-requests-missing":
    "no-pod, permanent: the Job made no pod: failed quota: q2: must specify requests.memory for: agent; set resources.requests.memory; gave up after 30 s",
};

/** What is said of a case while it happens, beside its pod's creation and place. */
const warnings: Readonly<Record<string, readonly string[]>> = {
  "image-pull-backoff": [NOT_PULLED],
  "secret-volume-missing": ['a volume is not mounted yet: volume "s": secret "missing" not found; create it in namespace agents'],
  "unschedulable-cpu": ["pod not scheduled yet: 0/1 nodes are available: 1 Insufficient cpu; lower resources.requests.cpu or add a node"],
  "quota-no-pod": [
    "the Job made no pod: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0; raise or free ResourceQuota q of namespace agents",
  ],
  "oom-child": [`a process of the run was killed for lack of memory (limit 128Mi); ${MORE_MEMORY}`],
  "deadline-exceeded": ["the Job's deadline has passed (activeDeadlineSeconds)"],
  "evicted-disruption": [EVICTED],
  "evicted-disruption-terminating": [EVICTED],
  "node-lost": ["node node2 does not answer; the pod may still run there, waiting"],
  "job-deleted": ["Job agent-worker is gone; waiting for the end of its pod"],
  suspended: ["Job agent-worker was suspended (spec.suspend); its pod is stopped"],
  "init-failed": ["init container setup exited with code 5"],
  completed: [],
};

function play(name: string) {
  const image = name.startsWith("image-") || name === "deadline-before-start" ? MISSING : name === "invalid-image-name" ? BAD_NAME : {};
  return replay(recorded(name, PULLING.has(name) ? ["image-pull-err"] : []), image);
}

describe("recorded cases", () => {
  test("all of them are here", () => expect(Object.keys(ends).sort()).toEqual([...recordedCases].sort()));

  test.each(Object.entries(ends))("%s", (name, expected) => {
    expect(summary(play(name).state.outcome)).toBe(expected);
  });

  test.each(Object.entries(warnings))("%s, reported once while it happens", (name, expected) => {
    expect(
      play(name)
        .lines.filter((line) => line.level === "warning")
        .map((line) => line.text),
    ).toEqual(expected);
  });

  test("an image that cannot be pulled is named within 3 s of the create", () => {
    const { texts } = replay(recorded("image-pull-backoff", ["image-pull-err"]), { ...MISSING, untilMs: 3000 });
    expect(texts).toContain(NOT_PULLED);
  });

  test("no text is longer than a reader bears, and none is JSON", () => {
    for (const name of recordedCases) {
      const { state, texts } = play(name);
      for (const text of [...texts, summary(state.outcome)]) {
        expect(text.length, text).toBeLessThan(600);
        expect(text).not.toMatch(/[{}]/);
      }
    }
  });
});
