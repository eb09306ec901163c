import { expect, test } from "vitest";
import { RequestError } from "../errors.ts";
import { escapeDollars } from "./env.ts";
import { MAX_SECRET_BYTES, secretManifest } from "./secret.ts";
import { buildSubmission } from "./submission.ts";
import { exampleRequest } from "./testing/example-request.ts";

const NONCE = "0123456789abcdef01234567";

test("the Job of a plain run", () => {
  const env = { plain: { LANG: "C.UTF-8" }, secret: { KEY: "s3cret" }, references: [] };
  const job = buildSubmission(exampleRequest({ env }), NONCE, "runner").job();
  expect(job).toMatchInlineSnapshot(`
    {
      "apiVersion": "batch/v1",
      "kind": "Job",
      "metadata": {
        "annotations": {
          "example.io/exclusive": "worker",
          "example.io/first-run": "run-1",
          "example.io/nonce": "0123456789abcdef01234567",
          "example.io/output": "/data/logs/run-1.ndjson",
          "example.io/run-id": "run-1",
          "example.io/runner": "1",
        },
        "labels": {
          "example.io/managed-by": "tests",
          "example.io/run": "run-1",
        },
        "name": "agent-worker-87eba76e",
        "namespace": "agents",
      },
      "spec": {
        "activeDeadlineSeconds": 4510,
        "backoffLimit": 0,
        "completions": 1,
        "parallelism": 1,
        "template": {
          "metadata": {
            "annotations": {
              "example.io/exclusive": "worker",
              "example.io/first-run": "run-1",
              "example.io/nonce": "0123456789abcdef01234567",
              "example.io/output": "/data/logs/run-1.ndjson",
              "example.io/run-id": "run-1",
              "example.io/runner": "1",
            },
            "labels": {
              "example.io/managed-by": "tests",
              "example.io/run": "run-1",
            },
          },
          "spec": {
            "automountServiceAccountToken": false,
            "containers": [
              {
                "command": [
                  "node",
                  "/run/agent-input/runner.cjs",
                  "/dev/termination-log",
                ],
                "env": [
                  {
                    "name": "LANG",
                    "value": "C.UTF-8",
                  },
                ],
                "image": "agent:1",
                "imagePullPolicy": "IfNotPresent",
                "name": "agent",
                "resources": {
                  "limits": {
                    "cpu": "1",
                    "memory": "1Gi",
                  },
                  "requests": {
                    "cpu": "100m",
                    "memory": "64Mi",
                  },
                },
                "securityContext": {
                  "allowPrivilegeEscalation": false,
                  "capabilities": {
                    "drop": [
                      "ALL",
                    ],
                  },
                  "readOnlyRootFilesystem": true,
                  "runAsNonRoot": true,
                  "seccompProfile": {
                    "type": "RuntimeDefault",
                  },
                },
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "FallbackToLogsOnError",
                "volumeMounts": [
                  {
                    "mountPath": "/run/agent-input",
                    "name": "agent-input",
                    "readOnly": true,
                  },
                  {
                    "mountPath": "/data",
                    "name": "shared",
                  },
                  {
                    "mountPath": "/agent/home",
                    "name": "home",
                  },
                ],
                "workingDir": "/data",
              },
            ],
            "enableServiceLinks": false,
            "restartPolicy": "Never",
            "securityContext": {
              "fsGroupChangePolicy": "OnRootMismatch",
              "runAsGroup": 1000,
              "runAsNonRoot": true,
              "runAsUser": 1000,
              "seccompProfile": {
                "type": "RuntimeDefault",
              },
            },
            "terminationGracePeriodSeconds": 25,
            "volumes": [
              {
                "name": "agent-input",
                "secret": {
                  "defaultMode": 292,
                  "secretName": "agent-worker-87eba76e-01234567",
                },
              },
              {
                "name": "shared",
                "persistentVolumeClaim": {
                  "claimName": "data",
                },
              },
              {
                "emptyDir": {
                  "sizeLimit": "1Gi",
                },
                "name": "home",
              },
            ],
          },
        },
        "ttlSecondsAfterFinished": 600,
      },
    }
  `);
});

test("nothing secret and no prompt stands in the Job", () => {
  const request = exampleRequest({
    stdin: Buffer.from("the prompt text"),
    argv: ["agent-cli", "--secretless"],
    files: { "mcp.json": "file-secret" },
    env: { plain: {}, secret: { TOKEN: "token-secret" }, references: [] },
    defaults: [{ unless: [".cli"], env: { FAST: { file: "mcp.json" } }, files: {} }],
  });
  const submission = buildSubmission(request, NONCE, "runner");
  const job = JSON.stringify(submission.job());
  for (const secret of ["the prompt text", "token-secret", "file-secret", "TOKEN"]) expect(job).not.toContain(secret);
  expect(Buffer.from(submission.secretData().stdin ?? "", "base64").toString()).toBe("the prompt text");
  expect(Buffer.from(submission.secretData()["mcp.json"] ?? "", "base64").toString()).toBe("file-secret");
  expect(JSON.parse(Buffer.from(submission.secretData()["spec.json"] ?? "", "base64").toString())).toMatchObject({
    argv: ["agent-cli", "--secretless"],
    env: { TOKEN: "token-secret" },
    defaults: [{ unless: [".cli"], env: { FAST: { file: "mcp.json" } }, files: {} }],
    nonce: NONCE,
  });
});

test("folders of the shared volume can be read-only, and nothing outside of it", () => {
  const shared = { claimName: "data", mountPath: "/data/", subPath: "team", readOnly: ["/data/a/b"] };
  const volumes = { ...exampleRequest().volumes, shared };
  const job = buildSubmission(exampleRequest({ volumes }), NONCE, "runner").job();
  const mount = { name: "shared", mountPath: "/data/a/b", subPath: "team/a/b", readOnly: true };
  expect(JSON.stringify(job)).toContain(JSON.stringify(mount));
  const outside = { ...volumes, shared: { ...shared, readOnly: ["/database"] } };
  expect(() => buildSubmission(exampleRequest({ volumes: outside }), NONCE, "runner")).toThrow(/not a folder on the volume/);
});

test("a pod has the folders it is given instead of the whole volume, each at its own path", () => {
  const mounts = [
    { path: "/data/work", readOnly: false },
    { path: "/data/a/b", readOnly: true },
  ];
  const shared = { claimName: "data", mountPath: "/data", subPath: "team", mounts };
  const volumes = { ...exampleRequest().volumes, shared };
  const job = buildSubmission(exampleRequest({ volumes }), NONCE, "runner").job();
  type Mounts = { spec: { template: { spec: { containers: { volumeMounts: { name: string }[] }[] } } } };
  const { volumeMounts } = (job as unknown as Mounts).spec.template.spec.containers[0]!;
  expect(volumeMounts.filter(({ name }) => name === "shared")).toEqual([
    { name: "shared", mountPath: "/data/work", subPath: "team/work" },
    { name: "shared", mountPath: "/data/a/b", subPath: "team/a/b", readOnly: true },
  ]);
  const root = { ...volumes, shared: { ...shared, mounts: [{ path: "/data", readOnly: false }] } };
  expect(() => buildSubmission(exampleRequest({ volumes: root }), NONCE, "runner")).toThrow(/not a folder on the volume/);
});

test("dollars in plain values survive Kubernetes' own expansion", () => {
  const value = "$(HOME) $$ $HOME \\$ $";
  const job = buildSubmission(exampleRequest({ env: { plain: { X: value }, secret: {}, references: [] } }), NONCE, "runner").job();
  const container = (job.spec as { template: { spec: { containers: { env: { name: string; value: string }[] }[] } } }).template.spec
    .containers[0];
  expect(container?.env).toEqual([{ name: "X", value: escapeDollars(value) }]);
  expect(escapeDollars(value).replaceAll("$$", "$")).toBe(value);
});

test("a literal wins over a reference of its name, a secret one too", () => {
  const reference = (name: string) => ({ name, valueFrom: { secretKeyRef: { name: "s", key: "k" } } });
  const env = { plain: { A: "1" }, secret: { B: "2" }, references: ["A", "B", "C"].map(reference) };
  const job = buildSubmission(exampleRequest({ env }), NONCE, "runner").job();
  const container = (job.spec as { template: { spec: { containers: { env: { name: string }[] }[] } } }).template.spec.containers[0];
  expect(container?.env.map((entry) => entry.name)).toEqual(["C", "A"]);
});

test("a prompt too large for a Secret is refused with its size and the limit", () => {
  const request = exampleRequest({ stdin: Buffer.alloc(MAX_SECRET_BYTES) });
  expect(() => buildSubmission(request, NONCE, "runner")).toThrow(RequestError);
  expect(() => buildSubmission(request, NONCE, "runner")).toThrow(/the prompt has 1048576 bytes.*Shorten the prompt to at most \d+ bytes/);
});

test("file names that are no Secret keys, or the runner's own, are refused", () => {
  for (const name of ["../x", "a/b", "", "spec.json"]) {
    expect(() => buildSubmission(exampleRequest({ files: { [name]: "x" } }), NONCE, "runner")).toThrow(RequestError);
  }
});

test("the Secret is owned by the Job", () => {
  const request = exampleRequest();
  const secret = secretManifest(request, buildSubmission(request, NONCE, "runner"), "uid-1", null);
  expect(secret.metadata).toMatchObject({ ownerReferences: [{ kind: "Job", uid: "uid-1" }], name: expect.stringMatching(/-01234567$/) });
});

test("what the operator forces on a pod; our own annotations win", () => {
  const annotations = { "mesh.example/inject": "false", "example.io/nonce": "forged" };
  const pod = { runtimeClassName: "sandbox", hostUsers: false, priorityClassName: "low", readOnlyRootFilesystem: false, annotations };
  const job = buildSubmission(exampleRequest({ pod }), NONCE, "runner").job();
  const { metadata, spec } = (job.spec as { template: { metadata: object; spec: Record<string, unknown> } }).template;
  expect(metadata).toMatchObject({ annotations: { "mesh.example/inject": "false", "example.io/nonce": NONCE } });
  expect(spec).toMatchObject({ runtimeClassName: "sandbox", hostUsers: false, priorityClassName: "low" });
  expect(JSON.stringify(spec)).not.toContain("readOnlyRootFilesystem");
  expect(JSON.stringify(job.metadata)).not.toContain("mesh.example");
});

test("a scratch folder can be seen at several places", () => {
  const scratch = [{ name: "tmp", mountPath: "/agent/tmp", alsoAt: ["/tmp"], sizeLimit: "1Gi" }];
  const job = buildSubmission(exampleRequest({ volumes: { ...exampleRequest().volumes, scratch } }), NONCE, "runner").job();
  const mounts = ["/agent/tmp", "/tmp"].map((mountPath) => ({ name: "tmp", mountPath }));
  const text = JSON.stringify(job);
  for (const mount of mounts) expect(text).toContain(JSON.stringify(mount));
  expect(text.match(/"emptyDir"/g)).toHaveLength(1);
});

test("retained Jobs have no time to live, a token only comes with a service account", () => {
  const scheduling = { ...exampleRequest().scheduling, serviceAccountName: "agent" };
  const job = buildSubmission(exampleRequest({ retain: true, scheduling }), NONCE, "runner").job();
  expect(job.spec).not.toHaveProperty("ttlSecondsAfterFinished");
  expect(job.spec).toMatchObject({ template: { spec: { automountServiceAccountToken: true, serviceAccountName: "agent" } } });
});
