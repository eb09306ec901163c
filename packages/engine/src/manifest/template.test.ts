import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RequestError } from "../errors.ts";
import { overlaps } from "../overlaps.ts";
import type { PodTemplate } from "../request.ts";
import { buildSubmission } from "./submission.ts";
import { applyTemplate } from "./template.ts";
import { exampleRequest } from "./testing/example-request.ts";

const NOTHING: PodTemplate = { initContainers: [], sidecars: [], volumes: [], volumeMounts: [], env: [] };

interface Spec extends Record<string, unknown> {
  readonly containers: readonly (Record<string, unknown> & { readonly volumeMounts: unknown[]; readonly env?: unknown[] })[];
  readonly initContainers?: readonly Record<string, unknown>[];
  readonly volumes: readonly Record<string, unknown>[];
}

function specWith(template: PodTemplate | null, account: string | null = null): Spec {
  const request = exampleRequest();
  const scheduling = { ...request.scheduling, serviceAccountName: account };
  const env = { plain: { OWN: "1" }, secret: {}, references: [] };
  const job = buildSubmission(exampleRequest({ template, scheduling, env }), "0123456789abcdef01234567", "runner").job();
  return (job.spec as { template: { spec: Spec } }).template.spec;
}
const plain = specWith(null);

test("no template, and one that says nothing, change nothing", () => {
  expect(specWith(NOTHING)).toEqual(plain);
  expect(plain.initContainers).toBeUndefined();
});

describe("containers", () => {
  const spec = specWith({
    ...NOTHING,
    initContainers: [{ name: "first", image: "i:1", terminationMessagePolicy: "File" }],
    sidecars: [{ name: "db", image: "db:1", securityContext: { runAsUser: 999, capabilities: { drop: ["ALL"], add: ["CHOWN"] } } }],
  });

  test("further ones are native sidecars after the init containers; the Job's end stays that of the run's own", () => {
    expect(spec.containers).toEqual(plain.containers);
    expect(spec.initContainers).toMatchObject([
      { name: "first", terminationMessagePolicy: "File" },
      { name: "db", restartPolicy: "Always", terminationMessagePolicy: "FallbackToLogsOnError" },
    ]);
    expect(spec.initContainers?.[0]).not.toHaveProperty("restartPolicy");
  });

  test("they are what Pod Security asks for, unless the template says otherwise, and mount nothing of the run's", () => {
    expect(spec.initContainers?.[0]?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      runAsNonRoot: true,
      capabilities: { drop: ["ALL"] },
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(spec.initContainers?.[1]?.securityContext).toMatchObject({
      runAsUser: 999,
      capabilities: { add: ["CHOWN"] },
      runAsNonRoot: true,
    });
    for (const container of spec.initContainers ?? []) expect(container).not.toHaveProperty("volumeMounts");
  });

  test("the token of the run's service account is hidden from them, unless they mount something there themselves", () => {
    const path = "/var/run/secrets/kubernetes.io/serviceaccount";
    const own = [{ name: "own-token", mountPath: path }];
    const sidecars = [
      { name: "db", image: "db:1" },
      { name: "vault", image: "v:1", volumeMounts: own },
    ];
    const withAccount = specWith({ ...NOTHING, sidecars }, "deployer");
    expect(withAccount.initContainers?.[0]).toMatchObject({ volumeMounts: [{ name: "agent-no-token", mountPath: path }] });
    expect(withAccount.initContainers?.[1]).toMatchObject({ volumeMounts: own });
    expect(withAccount.volumes).toContainEqual({ name: "agent-no-token", emptyDir: {} });
    expect(withAccount.containers).toEqual(specWith(null, "deployer").containers);
    expect(specWith({ ...NOTHING, sidecars }).volumes).toEqual(plain.volumes);
  });
});

test("volumes, mounts and variables are added; the run's own variable wins", () => {
  const spec = specWith({
    ...NOTHING,
    volumes: [{ name: "cache", emptyDir: {} }],
    volumeMounts: [{ name: "cache", mountPath: "/cache" }],
    env: [
      { name: "OWN", value: "theirs" },
      { name: "PGHOST", value: "127.0.0.1" },
    ],
  });
  expect(spec.volumes).toEqual([...plain.volumes, { name: "cache", emptyDir: {} }]);
  expect(spec.containers[0]?.volumeMounts.at(-1)).toEqual({ name: "cache", mountPath: "/cache" });
  expect(spec.containers[0]?.env).toEqual([
    { name: "OWN", value: "1" },
    { name: "PGHOST", value: "127.0.0.1" },
  ]);
});

test.each<[string, Partial<PodTemplate>, string]>([
  ["the run's container", { sidecars: [{ name: "agent" }] }, "a container named agent"],
  ["two containers of one name", { sidecars: [{ name: "db" }], initContainers: [{ name: "db" }] }, "a container named db"],
  ["a volume of the run's", { volumes: [{ name: "shared", emptyDir: {} }] }, "a volume named shared"],
  ["a mount over the volume", { volumeMounts: [{ name: "x", mountPath: "/data/" }] }, "at /data/, where the run itself has /data"],
  ["a mount below the home", { volumeMounts: [{ name: "x", mountPath: "/agent/home/.npm" }] }, 'has /agent/home (volume "home")'],
  ["a mount above the runner", { volumeMounts: [{ name: "x", mountPath: "/run" }] }, "where the run itself has /run/agent-input"],
])("refused: %s", (_, changes, message) => {
  expect(() => specWith({ ...NOTHING, ...changes })).toThrow(RequestError);
  expect(() => specWith({ ...NOTHING, ...changes })).toThrow(message);
});

test("paths that overlap", () => {
  expect([overlaps("/a", "/a/b"), overlaps("/a/b/", "/a"), overlaps("/a", "/a/"), overlaps("/a", "/ab"), overlaps("/a/b", "/a/c")]).toEqual(
    [true, true, true, false, false],
  );
});

/** Names among which are those of the run's own parts. */
const anyName = fc.constantFrom("agent", "shared", "agent-input", "home", "db", "cache", "x", "y", "z");
const anyPath = fc.constantFrom("/", "/data", "/data/x", "/agent", "/agent/home", "/run/agent-input", "/cache", "/var/lib/db", "/tmp");
const anyPart = fc.dictionary(
  fc.constantFrom("image", "command", "env", "securityContext", "volumeMounts", "restartPolicy", "constructor"),
  fc.jsonValue(),
);
const parts = fc.array(
  fc.tuple(anyName, anyPart).map(([name, part]) => ({ ...part, name })),
  { maxLength: 3 },
);
const anyTemplate: fc.Arbitrary<PodTemplate> = fc.record(
  {
    initContainers: parts,
    sidecars: parts,
    volumes: parts,
    env: parts,
    volumeMounts: fc.array(fc.record({ name: anyName, mountPath: anyPath }), { maxLength: 3 }),
    affinity: fc.dictionary(fc.string(), fc.jsonValue()),
    hostAliases: fc.array(fc.jsonValue()),
    // No field of a template: a later version's, or a mistake.
    restartPolicy: fc.constant("Always"),
    containers: fc.constant([]),
    terminationGracePeriodSeconds: fc.constant(0),
  },
  { requiredKeys: ["initContainers", "sidecars", "volumes", "env", "volumeMounts"] },
);

test("whatever a template says, the run's container and pod stay as they are, or the template is refused", () => {
  fc.assert(
    fc.property(anyTemplate, (template) => {
      let spec: Spec;
      try {
        spec = applyTemplate(plain, template, "agent") as Spec;
      } catch (error) {
        expect(error).toBeInstanceOf(RequestError);
        return;
      }
      const { volumes, containers, initContainers, affinity: _, hostAliases: __, ...rest } = spec;
      const { volumes: ownVolumes, containers: ownContainers, ...ownRest } = plain;
      expect(rest).toEqual(ownRest);
      expect(volumes.slice(0, ownVolumes.length)).toEqual(ownVolumes);
      expect(containers).toHaveLength(1);
      const { env = [], volumeMounts, ...main } = containers[0]!;
      const { env: ownEnv = [], volumeMounts: ownMounts, ...ownMain } = ownContainers[0]!;
      expect(main).toEqual(ownMain);
      expect(env.slice(0, ownEnv.length)).toEqual(ownEnv);
      expect(volumeMounts.slice(0, ownMounts.length)).toEqual(ownMounts);
      const names = [...(initContainers ?? []), ...containers].map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
    }),
  );
});
