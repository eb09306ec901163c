import type { OwnPod } from "@paperclip-k8s/engine";
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../settings/config-error.ts";
import * as inherit from "./inherit-from.ts";
import type { InheritFacts, InheritSettings } from "./inherited.ts";
import { claim, examplePod, exampleSettings, exampleVariables, volume } from "./testing/example-pod.ts";

const inheritFrom = (pod: OwnPod | null, settings: InheritSettings, facts: Partial<InheritFacts> = {}) =>
  inherit.inheritFrom(pod, settings, { variables: exampleVariables, ...facts });

test("a plain server: all of it but the secrets", () => {
  const inherited = inheritFrom(examplePod({ dnsConfig: { options: [] } }), exampleSettings());
  expect(inherited).toMatchObject({
    namespace: "servers",
    image: "paperclip:1",
    imagePullSecrets: ["registry"],
    dnsPolicy: null,
    dnsConfig: { options: [] },
    claim: { name: "shared", mountPath: "/paperclip", subPath: null },
    nodeSelector: { pool: "agents" },
    tolerations: [{ key: "agents", operator: "Exists" }],
    warnings: [],
  });
});

describe("settings win", () => {
  const pod = examplePod();
  test.each<[string, Partial<InheritSettings>, object]>([
    ["image", { image: "mine:2" }, { image: "mine:2" }],
    ["node selector", { nodeSelector: { a: "b" } }, { nodeSelector: { a: "b" } }],
    ["tolerations", { tolerations: [{ key: "x" }] }, { tolerations: [{ key: "x" }] }],
    ["nor is the server's own namespace another", { namespace: "servers" }, { imagePullSecrets: ["registry"], warnings: [] }],
  ])("%s", (_, settings, expected) => {
    const inherited = inheritFrom(pod, exampleSettings(settings));
    expect(inherited).toMatchObject(expected);
    expect(Object.keys(inherited.nodeSelector)).toHaveLength(1);
  });

  test("none on purpose is a setting too", () => {
    const { nodeSelector, tolerations } = inheritFrom(pod, exampleSettings({ nodeSelector: {}, tolerations: [] }));
    expect({ nodeSelector, tolerations }).toEqual({ nodeSelector: {}, tolerations: [] });
  });
});

test.each<[string, Partial<OwnPod>, object]>([
  ["a resolver of its own", { dnsPolicy: "None" }, { dnsPolicy: "None" }],
  ["a host's network is not inherited", { dnsPolicy: "ClusterFirstWithHostNet" }, { dnsPolicy: null }],
])("server %s", (_, changes, expected) => {
  expect(inheritFrom(examplePod(changes), exampleSettings())).toMatchObject(expected);
});

describe("the claim", () => {
  test("of two volumes: the shared one's folders, each at its own path; the server's own disk is not shared", () => {
    const part = (folder: string, subPath: string | null = folder) =>
      claim({ claimName: "rwx", mountPath: `/paperclip/${folder}`, subPath });
    const settings = exampleSettings({ dataClaim: "rwx" });
    const of = (...parts: ReturnType<typeof claim>[]) =>
      inheritFrom(examplePod({ claims: [claim({ claimName: "disk", subPath: "s" }), ...parts] }), settings);
    const whole = of(part("instances/default/workspaces"), part("instances/default/data"));
    expect(whole.claim).toEqual({ name: "rwx", mountPath: "/paperclip", subPath: null });
    expect(whole.warnings).toEqual([]);
    expect(of(part("instances/default/data", null)).warnings).toEqual([
      expect.stringContaining("mount it with subPath instances/default/data"),
    ]);
  });

  test.each<[string, Partial<OwnPod>, Partial<InheritSettings>, object]>([
    ["mounted above the data path", { claims: [claim({ mountPath: "/data" })] }, { dataPath: "/data/paperclip" }, { mountPath: "/data" }],
    [
      "the deepest of several",
      { claims: [claim({ mountPath: "/data" }), claim({ claimName: "deep", mountPath: "/data/paperclip" })] },
      { dataPath: "/data/paperclip/home" },
      { name: "deep", mountPath: "/data/paperclip" },
    ],
    ["with its subPath", { claims: [claim({ subPath: "a/b" })] }, {}, { name: "shared", mountPath: "/paperclip", subPath: "a/b" }],
    ["with a subPath made of variables", { claims: [claim({ subPathExpr: "x-$(WHO)" })] }, {}, { subPath: "x-me" }],
    ["with a dollar in its subPath", { claims: [claim({ subPathExpr: "$$(WHO)-$(WHO)" })] }, {}, { subPath: "$(WHO)-me" }],
    [
      "named, with the server's mount",
      { claims: [claim({ mountPath: "/data", subPath: "s" })] },
      { dataPath: "/data/p", dataClaim: "shared" },
      { name: "shared", mountPath: "/data", subPath: "s" },
    ],
    ["named, where the server has none", { claims: [] }, { dataClaim: "mine" }, { name: "mine", mountPath: "/paperclip", subPath: null }],
  ])("%s", (_, changes, settings, expected) => {
    expect(inheritFrom(examplePod(changes), exampleSettings(settings), { env: { WHO: "me" } }).claim).toMatchObject(expected);
  });

  test.each<[string, Partial<OwnPod>, Partial<InheritSettings>, RegExp]>([
    [
      "none",
      { claims: [] },
      {},
      /^dataClaim: .*servers\/server-0 has no PersistentVolumeClaim at its data path \/paperclip \(nothing is mounted there\).*Data claim$/,
    ],
    ["beside it", { claims: [claim({ mountPath: "/paperclip-old" })] }, {}, /no PersistentVolumeClaim at its data path/],
    [
      "hidden by a deeper volume",
      { claims: [claim({ mountPath: "/" })], otherMounts: [{ kind: "emptyDir", mountPath: "/paperclip" }] },
      {},
      /emptyDir volume is, at \/paperclip/,
    ],
    ["read-only", { claims: [claim({ readOnly: true })] }, {}, /claim shared is mounted read-only at \/paperclip/],
    [
      "of another namespace",
      {},
      { namespace: "agents" },
      /namespace agents has none of the claims of the server's namespace servers\. Name a claim of agents that holds the same files as shared/,
    ],
    ["at a subPath nobody knows", { claims: [claim({ subPathExpr: "$(WHO)" })] }, {}, /WHO is not known/],
  ])("refused: %s", (_, changes, settings, message) => {
    const call = () => inheritFrom(examplePod(changes), exampleSettings(settings));
    expect(call).toThrow(ConfigError);
    expect(call).toThrow(message);
  });

  test("warned about: another claim than the server's, and volumes below the data path", () => {
    const other = inheritFrom(examplePod(), exampleSettings({ dataClaim: "mine" }));
    expect(other.warnings).toEqual([
      expect.stringContaining("Data claim (dataClaim): mine is not the claim the server has at /paperclip (shared)"),
    ]);
    const pod = examplePod({
      otherMounts: [{ kind: "emptyDir", mountPath: "/paperclip/cache" }],
      secretVolumes: [volume("s", "/paperclip/.ssh")],
    });
    expect(inheritFrom(pod, exampleSettings()).warnings).toEqual([expect.stringMatching(/^emptyDir volume at \/paperclip\/cache hides/)]);
  });
});

describe("another namespace", () => {
  const reference = (kind: string) => ({ [kind]: { name: "keys", key: "k" } });
  const pod = examplePod({
    env: [
      { name: "OPENAI_API_KEY", valueFrom: reference("secretKeyRef") },
      { name: "HTTPS_PROXY", valueFrom: reference("secretKeyRef") },
      { name: "OPENAI_BASE_URL", value: "https://llm.test" },
      { name: "NODE_EXTRA_CA_CERTS", value: "/etc/corp/ca.pem" },
    ],
    envFrom: [{ kind: "secret", name: "all-keys", prefix: "", optional: false }],
    secretVolumes: [volume("corp-ca", "/etc/corp"), volume("system-ca", "/etc/ssl/certs")],
  });
  const settings = exampleSettings({ namespace: "agents", dataClaim: "agents-data", inheritNames: ["all-keys"] });
  const inherited = inheritFrom(pod, settings, { env: { GROQ_API_KEY: "t", OPENAI_API_KEY: "k" } });

  test("has the values of the server's variables, in the run's own Secret, and none of its objects", () => {
    expect(inherited).toMatchObject({
      namespace: "agents",
      claim: { name: "agents-data", mountPath: "/paperclip" },
      imagePullSecrets: [],
      env: { references: [], from: [], hidden: [] },
      secretVolumes: [],
    });
    expect(inherited.env.literals).toEqual({ OPENAI_BASE_URL: "https://llm.test", OPENAI_API_KEY: "k", GROQ_API_KEY: "t" });
  });

  test("and what is missing is named", () => {
    const text = inherited.warnings.join("\n");
    for (const name of ["registry", "HTTPS_PROXY", "Secret all-keys", "NODE_EXTRA_CA_CERTS", "system-ca"]) expect(text).toContain(name);
    for (const name of ["OPENAI_API_KEY", "GROQ_API_KEY"]) expect(text).not.toContain(name);
  });
});

test("node selector and tolerations of the server's pod are said to be taken, with the word that leaves them out", () => {
  expect(inheritFrom(examplePod(), exampleSettings()).notes).toEqual(
    expect.arrayContaining([
      'node selector of the server\'s pod taken: pool=agents; "none" in Node selector leaves it out',
      'tolerations of the server\'s pod taken: agents; "none" in Tolerations leaves them out',
    ]),
  );
  const { notes } = inheritFrom(examplePod(), exampleSettings({ nodeSelector: {}, tolerations: [] }));
  expect(notes.join()).not.toMatch(/node selector|tolerations/);
});

describe("outside a cluster", () => {
  test("what is missing is named, all at once", () => {
    expect(() => inheritFrom(null, exampleSettings())).toThrow(/^namespace, image, dataClaim: must be set/);
    expect(() => inheritFrom(null, exampleSettings({ namespace: "n", image: "i" }), { noPod: "no permission" })).toThrow(
      /^dataClaim: must be set, .*no permission$/,
    );
  });

  test("explicit settings are enough", () => {
    const settings = exampleSettings({ namespace: "n", image: "i", dataClaim: "c", dataPath: "/data", nodeSelector: { a: "b" } });
    expect(inheritFrom(null, settings, { env: { OPENAI_API_KEY: "k" } })).toMatchObject({
      namespace: "n",
      image: "i",
      claim: { name: "c", mountPath: "/data", subPath: null },
      env: { literals: {}, references: [], from: [], hidden: [] },
      nodeSelector: { a: "b" },
      warnings: [],
    });
    expect(inheritFrom(null, { ...settings, inheritNames: ["X"] }).warnings).toEqual([
      expect.stringContaining("Also inherit (inheritNames) has no effect"),
    ]);
  });
});

test("names without an effect are warned about", () => {
  const pod = examplePod({
    env: [
      { name: "DATABASE_URL", value: "postgres://" },
      { name: "PAPERCLIP_SECRETS_MASTER_KEY_FILE", value: "/keys/master" },
    ],
    secretVolumes: [volume("master", "/keys")],
  });
  const settings = exampleSettings({ inheritNames: ["DATABASE_URL", "master", "TYPO", "OPEN*"] });
  expect(inheritFrom(pod, settings).warnings).toEqual([
    expect.stringMatching(/DATABASE_URL is not given to agents/),
    expect.stringMatching(/master holds the server's own secrets/),
    expect.stringMatching(/has no TYPO/),
  ]);
});
