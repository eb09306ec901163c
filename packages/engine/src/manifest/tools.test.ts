import { expect, test } from "vitest";
import type { ClaimVolume, RunTools } from "../request.ts";
import { volumeOwnershipManifest } from "./claim.ts";
import { buildSubmission } from "./submission.ts";
import { exampleRequest } from "./testing/example-request.ts";

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly securityContext: object;
  readonly resources: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}
interface Pod {
  readonly containers: readonly [Container];
  readonly initContainers?: readonly [Container];
  readonly volumes: readonly { readonly name: string }[];
}

const TOOLS: RunTools = { image: "tools:1", mount: "copy", programs: ["agent-cli"] };
const podOf = (job: object) => (job as { spec: { template: { spec: Pod } } }).spec.template.spec;
const build = (tools: RunTools | null) => {
  const submission = buildSubmission(exampleRequest({ tools }), "0123456789abcdef01234567", "runner");
  const spec = JSON.parse(Buffer.from(submission.secretData()["spec.json"] ?? "", "base64").toString()) as { path?: unknown };
  return { pod: podOf(submission.job()), path: spec.path };
};

test("without tools nothing of them is in the Job", () => {
  const { pod, path } = build(null);
  expect(JSON.stringify(pod)).not.toContain("agent-tools");
  expect(pod).not.toHaveProperty("initContainers");
  expect(path).toBeUndefined();
  expect(pod.containers[0].command[0]).toBe("node");
});

test("copy: the tools' own Node copies what this run needs, under the rules of the run", () => {
  const { pod, path } = build(TOOLS);
  const [main] = pod.containers;
  expect(pod.initContainers).toEqual([
    {
      name: "agent-tools",
      image: "tools:1",
      imagePullPolicy: "IfNotPresent",
      command: ["/opt/agent-tools/bin/node", "/opt/agent-tools/copy.cjs", "/agent-tools-copy", "node", "agent-cli", "bash?"],
      resources: main.resources,
      terminationMessagePolicy: "FallbackToLogsOnError",
      securityContext: main.securityContext,
      volumeMounts: [{ name: "agent-tools", mountPath: "/agent-tools-copy" }],
    },
  ]);
  expect(pod.volumes).toContainEqual({ name: "agent-tools", emptyDir: { sizeLimit: "4Gi" } });
  expect(main.volumeMounts).toContainEqual({ name: "agent-tools", mountPath: "/opt/agent-tools", readOnly: true });
  expect(main.image).toBe("agent:1");
  expect(main.command.slice(0, 2)).toEqual(["/opt/agent-tools/bin/node", "/run/agent-input/runner.cjs"]);
  expect(path).toEqual(["/opt/agent-tools/bin"]);
});

test("image-volume: the image is mounted as it is, and nothing runs before the run", () => {
  const { pod } = build({ ...TOOLS, mount: "image-volume" });
  expect(pod).not.toHaveProperty("initContainers");
  expect(pod.volumes).toContainEqual({ name: "agent-tools", image: { reference: "tools:1", pullPolicy: "IfNotPresent" } });
  expect(pod.containers[0].volumeMounts).toContainEqual({ name: "agent-tools", mountPath: "/opt/agent-tools", readOnly: true });
});

test("the pod that hands a claim over has no Node in its image either", () => {
  const claim: ClaimVolume = { claimName: "db", mountPath: "/agent/state", create: null, setOwnership: true };
  const pod = podOf(volumeOwnershipManifest(exampleRequest({ tools: TOOLS }), claim));
  expect(pod.containers[0].command[0]).toBe("/opt/agent-tools/bin/node");
  expect(pod.initContainers).toHaveLength(1);
});
