import { expect, test } from "vitest";
import { RequestError } from "../errors.ts";
import type { ObjectVolume, RunRequest } from "../request.ts";
import { buildSubmission } from "./submission.ts";
import { exampleRequest } from "./testing/example-request.ts";

interface Spec {
  containers: { env: { name: string; value?: string }[]; envFrom?: object[]; volumeMounts: { name: string; mountPath: string }[] }[];
  volumes: { name: string }[];
}

const specOf = (changes: Partial<RunRequest>): Spec => {
  const job = buildSubmission(exampleRequest(changes), "0123456789abcdef01234567", "runner").job();
  return (job.spec as { template: { spec: Spec } }).template.spec;
};
const { volumes, env, scheduling } = exampleRequest();
const certs: ObjectVolume = { name: "certs", mountPath: "/etc/certs", subPath: null, items: null, defaultMode: null };

test("whole objects and files of a namespace", () => {
  const spec = specOf({
    env: {
      ...env,
      from: [
        { kind: "secret", name: "keys", prefix: "", optional: false },
        { kind: "configMap", name: "settings", prefix: "CM_", optional: true },
      ],
    },
    scheduling: { ...scheduling, dnsPolicy: "None", dnsConfig: { nameservers: ["10.0.0.2"] } },
    volumes: {
      ...volumes,
      secrets: [{ ...certs, items: [{ key: "ca", path: "ca.pem", mode: 0o444 }], defaultMode: 0o400 }],
      configMaps: [{ ...certs, mountPath: "/etc/settings" }],
    },
  });
  expect(spec).toMatchObject({ dnsPolicy: "None", dnsConfig: { nameservers: ["10.0.0.2"] } });
  expect(spec.containers[0]?.envFrom).toMatchInlineSnapshot(`
    [
      {
        "secretRef": {
          "name": "keys",
        },
      },
      {
        "configMapRef": {
          "name": "settings",
          "optional": true,
        },
        "prefix": "CM_",
      },
    ]
  `);
  expect(spec.volumes.slice(-2)).toMatchInlineSnapshot(`
    [
      {
        "name": "object-1",
        "secret": {
          "defaultMode": 256,
          "items": [
            {
              "key": "ca",
              "mode": 292,
              "path": "ca.pem",
            },
          ],
          "optional": true,
          "secretName": "certs",
        },
      },
      {
        "configMap": {
          "name": "certs",
          "optional": true,
        },
        "name": "object-2",
      },
    ]
  `);
  expect(spec.containers[0]?.volumeMounts.slice(-2)).toMatchInlineSnapshot(`
    [
      {
        "mountPath": "/etc/certs",
        "name": "object-1",
        "readOnly": true,
      },
      {
        "mountPath": "/etc/settings",
        "name": "object-2",
        "readOnly": true,
      },
    ]
  `);
});

test("a run that inherits nothing has none of it in its Job", () => {
  const spec = specOf({ env: { ...env, from: [], hidden: [] }, volumes: { ...volumes, secrets: [], configMaps: [] } });
  expect(spec).toEqual(specOf({}));
  expect(spec.containers[0]).not.toHaveProperty("envFrom");
});

test("one Secret at two paths is one volume; another choice of keys is another", () => {
  const spec = specOf({
    volumes: {
      ...volumes,
      secrets: [
        { ...certs, subPath: "a.pem", mountPath: "/etc/a.pem" },
        { ...certs, subPath: "b.pem", mountPath: "/etc/b.pem" },
        { ...certs, items: [{ key: "c", path: "c.pem" }], mountPath: "/etc/c" },
      ],
      configMaps: [{ ...certs, mountPath: "/etc/d" }],
    },
  });
  const mounts = spec.containers[0]?.volumeMounts.slice(-4);
  expect(mounts?.map(({ name, mountPath }) => `${name} ${mountPath}`)).toEqual([
    "object-1 /etc/a.pem",
    "object-1 /etc/b.pem",
    "object-2 /etc/c",
    "object-3 /etc/d",
  ]);
  expect(spec.volumes.slice(-3).map(({ name }) => name)).toEqual(["object-1", "object-2", "object-3"]);
});

test("names of the request's own volumes are left alone", () => {
  const scratch = [{ name: "object-1", mountPath: "/x", sizeLimit: "1Gi" }];
  const names = specOf({ volumes: { ...volumes, scratch, secrets: [certs] } }).volumes.map(({ name }) => name);
  expect(names).toEqual(["agent-input", "shared", "object-1", "object-2"]);
});

test.each([
  ["the shared volume", "/data/"],
  ["a scratch folder", "/agent/home"],
  ["the runner's input", "/run/agent-input"],
])("a mount over %s is refused before anything exists", (_, mountPath) => {
  const changes = { volumes: { ...volumes, secrets: [{ ...certs, mountPath }] } };
  expect(() => specOf(changes)).toThrow(RequestError);
  expect(() => specOf(changes)).toThrow(/both mounted at/);
});

test("who wins: secret and plain values, then hiding, then references", () => {
  const reference = (name: string) => ({ name, valueFrom: { secretKeyRef: { name: "s", key: "k" } } });
  const spec = specOf({
    env: {
      plain: { A: "1$", B: "2" },
      secret: { C: "3" },
      references: ["A", "C", "D", "E"].map(reference),
      from: [{ kind: "secret", name: "keys", prefix: "", optional: false }],
      hidden: ["B", "D", "F"],
    },
  });
  expect(spec.containers[0]?.env).toEqual([
    reference("E"),
    { name: "D", value: "" },
    { name: "F", value: "" },
    { name: "A", value: "1$$" },
    { name: "B", value: "2" },
  ]);
});
