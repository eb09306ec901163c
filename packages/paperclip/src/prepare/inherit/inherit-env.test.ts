import type { OwnEnv, OwnPod } from "@paperclip-k8s/engine";
import { describe, expect, test } from "vitest";
import { COMMON_ALLOWLIST } from "./allowlist.ts";
import { matches } from "./denylist.ts";
import { inheritFrom } from "./inherit-from.ts";
import { examplePod, exampleSettings, exampleVariables, volume } from "./testing/example-pod.ts";

const ALLOWED_NAMES =
  "MODEL_API_KEY OPENAI_API_KEY OPENAI_BASE_URL OPENROUTER_API_KEY GOOGLE_API_KEY GOOGLE_GENERATIVE_AI_API_KEY " +
  "GOOGLE_CLOUD_PROJECT GEMINI_API_KEY AZURE_OPENAI_API_KEY AZURE_API_KEY AZURE_RESOURCE_NAME MISTRAL_API_KEY " +
  "GROQ_API_KEY DEEPSEEK_API_KEY XAI_API_KEY MOONSHOT_API_KEY HTTP_PROXY https_proxy NO_PROXY " +
  "no_proxy SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO GIT_AUTHOR_NAME " +
  "LANG LC_ALL TZ PAPERCLIP_MODEL_PROVIDERS PAPERCLIP_MODEL_SMALL";
const OTHER_NAMES =
  "AWS_LOG_GROUP AWS_S3_BUCKET AZURE_CLIENT_SECRET AZURE_STORAGE_KEY NODE_ENV NODE_OPTIONS STRIPE_API_KEY GOOGLE_SHEETS_SERVICE_ACCOUNT_JSON GITHUBX LANGX";
const SECRET_NAMES =
  "DATABASE_URL DATABASE_MIGRATION_URL BETTER_AUTH_SECRET PAPERCLIP_AGENT_JWT_SECRET PAPERCLIP_SECRETS_MASTER_KEY PAPERCLIP_SECRETS_PROVIDER " +
  "APP_MASTER_KEY RUN_LOG_S3_BUCKET PAPERCLIP_DEV_API_KEY PAPERCLIP_API_KEY PAPERCLIP_DECISION_SIGNING_SECRET PAPERCLIP_CLOUD_TENANT_SERVER_TOKEN";
const CREDENTIAL_NAMES =
  "POSTGRES_PASSWORD PGPASSWORD PGHOST GOOGLE_CLIENT_SECRET GITHUB_CLIENT_ID GH_TOKEN GITHUB_TOKEN GH_ENTERPRISE_TOKEN";
const SETTING_NAMES =
  "PAPERCLIP_HOME PAPERCLIP_PUBLIC_URL HOME PATH TMPDIR XDG_CACHE_HOME PORT GH_CONFIG_DIR AWS_ROLE_ARN MODEL_HOME PAPERCLIP_MODEL_STORAGE_DIR";

const words = (text: string): string[] => text.split(" ");
const literals = (text: string): OwnEnv[] => words(text).map((name) => ({ name, value: `value of ${name}` }));
const run = (pod: Partial<OwnPod>, settings = {}, env: NodeJS.ProcessEnv = {}) =>
  inheritFrom(examplePod(pod), exampleSettings(settings), { env, variables: exampleVariables });
const taken = (names: string, settings = {}): string[] => Object.keys(run({ env: literals(names) }, settings).env.literals);

describe("which names", () => {
  test.each([
    ["listed: the allowlists", ALLOWED_NAMES, {}, true],
    ["listed: nothing else", OTHER_NAMES, {}, false],
    ["listed: names given", OTHER_NAMES, { inheritNames: words(OTHER_NAMES) }, true],
    ["listed: beginnings given", "MY_A MY_B", { inheritNames: ["MY_*"] }, true],
    ["all: the allowlists", ALLOWED_NAMES, { inherit: "all" }, true],
    ["all: everything else too", OTHER_NAMES, { inherit: "all" }, true],
    ["all: not the server's secrets", `${SECRET_NAMES} ${CREDENTIAL_NAMES}`, { inherit: "all" }, false],
    ["all: not the server's settings and places", SETTING_NAMES, { inherit: "all" }, false],
    ["the server's secrets not even by name", SECRET_NAMES, { inherit: "all", inheritNames: words(SECRET_NAMES) }, false],
    ["credentials not by a beginning", CREDENTIAL_NAMES, { inheritNames: ["*"] }, false],
    ["credentials by name", CREDENTIAL_NAMES, { inheritNames: words(CREDENTIAL_NAMES) }, true],
    ["settings by name", SETTING_NAMES, { inheritNames: words(SETTING_NAMES) }, true],
  ])("%s", (_, names, settings, expected) => {
    expect(taken(names, settings)).toEqual(expected ? words(names) : []);
  });

  test("the allowlist has nothing twice, and nothing that is always denied", () => {
    expect(new Set(COMMON_ALLOWLIST).size).toBe(COMMON_ALLOWLIST.length);
    for (const name of words(SECRET_NAMES)) expect(matches(name, COMMON_ALLOWLIST)).toBe(false);
  });

  test("AWS keys stay when the server's own stores use them, with a warning", () => {
    const env = literals("AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION PAPERCLIP_STORAGE_S3_BUCKET");
    const inherited = run({ env });
    expect(Object.keys(inherited.env.literals)).toEqual(["AWS_REGION"]);
    expect(inherited.warnings).toEqual([expect.stringMatching(/AWS_ACCESS_KEY_ID .*AWS_SECRET_ACCESS_KEY/)]);
    const named = run({ env }, { inheritNames: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] });
    expect(Object.keys(named.env.literals)).toHaveLength(3);
  });

  test("logins to repositories are left with a warning that says how to give them", () => {
    const { warnings } = run({ env: literals("GITHUB_TOKEN LANG") });
    expect(warnings).toEqual([expect.stringMatching(/allow\.inheritedEnvironment of the policy: GITHUB_TOKEN \(/)]);
  });

  test("the log has names and no values", () => {
    const { notes, warnings } = run({ env: literals(`${ALLOWED_NAMES} ${OTHER_NAMES} ${SECRET_NAMES} ${CREDENTIAL_NAMES}`) });
    const text = [...notes, ...warnings].join("\n");
    expect(text).not.toContain("value of");
    for (const name of words(`${ALLOWED_NAMES} ${OTHER_NAMES} ${SECRET_NAMES}`)) expect(text).toContain(name);
  });
});

describe("how", () => {
  const key = (kind: string) => ({ [kind]: { name: "o", key: "k" } });

  test("references stay references; what depends on the server's container does not go", () => {
    const env = [
      { name: "OPENAI_API_KEY", valueFrom: key("secretKeyRef") },
      { name: "LANG", valueFrom: key("configMapKeyRef") },
      { name: "TZ", valueFrom: { fieldRef: { fieldPath: "metadata.labels['tz']" } } },
      { name: "LC_ALL", valueFrom: { resourceFieldRef: { resource: "limits.cpu", containerName: "paperclip" } } },
      { name: "DATABASE_URL", valueFrom: key("secretKeyRef") },
    ];
    const inherited = run({ env }, { inherit: "all" }, { OPENAI_API_KEY: "real" });
    expect(inherited.env.references.map(({ name }) => name)).toEqual(["OPENAI_API_KEY", "LANG", "TZ"]);
    expect(inherited.env.literals).toEqual({});
  });

  test.each<[string, string, NodeJS.ProcessEnv, string | undefined]>([
    ["as the process has it", "https://$(HOST_NAME)/$$", { OPENAI_BASE_URL: "https://real/$" }, "https://real/$"],
    ["not when the process does not have it", "https://$(TOKEN)@h", {}, undefined],
  ])("a literal made of others: %s", (_, value, process, expected) => {
    const env = [
      { name: "HOST_NAME", value: "h" },
      { name: "TOKEN", valueFrom: key("secretKeyRef") },
      { name: "OPENAI_BASE_URL", value },
    ];
    const inherited = run({ env }, {}, process);
    expect(inherited.env.literals.OPENAI_BASE_URL).toBe(expected);
    expect(inherited.warnings).toEqual(
      expected === undefined
        ? [expect.stringContaining("made of other variables that are not known here; set it under Environment variables: OPENAI_BASE_URL")]
        : [],
    );
  });

  test("of two entries with a name the later counts", () => {
    expect(run({ env: [...literals("LANG"), { name: "LANG", value: "later" }] }).env.literals).toEqual({ LANG: "later" });
  });
});

describe("whole objects", () => {
  const keys = { kind: "secret", name: "keys", prefix: "", optional: false } as const;
  const prefixed = { kind: "configMap", name: "settings", prefix: "CM_", optional: true } as const;
  const process = {
    OPENAI_API_KEY: "k",
    DATABASE_URL: "d",
    PGPASSWORD: "p",
    CM_DATABASE_URL: "c",
    PATH: "/bin",
    PAPERCLIP_HOME: "/paperclip",
  };

  test("listed: they stay, and the listed values of them come as values", () => {
    const { env } = run({ envFrom: [keys, prefixed] }, {}, process);
    expect(env).toEqual({ literals: { OPENAI_API_KEY: "k" }, references: [], from: [], hidden: [] });
  });

  test("listed, and nothing comes whole: the process's variables are its own", () => {
    expect(run({ envFrom: [] }, {}, process).env.literals).toEqual({});
  });

  test("all: by reference, with the server's secrets set empty, and nothing else", () => {
    const { env } = run({ envFrom: [keys, prefixed] }, { inherit: "all" }, process);
    expect(env.from).toEqual([keys, prefixed]);
    expect(env.literals).toEqual({});
    expect(env.hidden).toEqual(
      expect.arrayContaining(["DATABASE_URL", "PGPASSWORD", "CM_DATABASE_URL", "BETTER_AUTH_SECRET", "PAPERCLIP_API_KEY"]),
    );
    for (const name of ["PATH", "PAPERCLIP_HOME", "OPENAI_API_KEY"]) expect(env.hidden).not.toContain(name);
  });

  test("a variable that is spelled out is given, whatever a prefix makes of its name", () => {
    const env = [{ name: "CM_DATABASE_URL", value: "the agents' database" }];
    const inherited = run({ env, envFrom: [prefixed] }, { inherit: "all" }, process).env;
    expect(inherited.literals).toEqual({ CM_DATABASE_URL: "the agents' database" });
    expect(inherited.hidden).not.toContain("CM_DATABASE_URL");
    expect(inherited.hidden).toContain("CM_BETTER_AUTH_SECRET");
  });

  test("asked for by name: that one, and a credential that is named is not hidden", () => {
    const { env } = run({ envFrom: [keys, prefixed] }, { inheritNames: ["keys", "PGPASSWORD"] }, process);
    expect(env.from).toEqual([keys]);
    expect(env.hidden).toContain("DATABASE_URL");
    expect(env.hidden).not.toContain("PGPASSWORD");
  });
});

describe("files", () => {
  const env = (value: string, name = "NODE_EXTRA_CA_CERTS") => [{ name, value }];
  const names = (inherited: ReturnType<typeof run>) =>
    [...inherited.secretVolumes, ...inherited.configMapVolumes].map(({ name, mountPath }) => `${name} ${mountPath}`);

  test.each<[string, Partial<OwnPod>, object, string[]]>([
    ["one a variable points to", { env: env("/corp/ca.pem"), secretVolumes: [volume("ca", "/corp")] }, {}, ["ca /corp"]],
    [
      "a file mounted by itself",
      { env: env("/corp/ca.pem"), secretVolumes: [volume("ca", "/corp/ca.pem", { subPath: "ca" })] },
      {},
      ["ca /corp/ca.pem"],
    ],
    ["a ConfigMap as well", { env: env("/corp/ca.pem"), configMapVolumes: [volume("ca", "/corp")] }, {}, ["ca /corp"]],
    [
      "one of a search list",
      { env: env("/x:/corp/b/", "SSL_CERT_DIR"), secretVolumes: [volume("a", "/corp/a"), volume("b", "/corp/b")] },
      {},
      ["b /corp/b"],
    ],
    [
      "all below a folder",
      { env: env("/srv/corp", "SSL_CERT_DIR"), secretVolumes: [volume("a", "/srv/corp/a"), volume("z", "/srv/z")] },
      {},
      ["a /srv/corp/a"],
    ],
    [
      "one in a command line",
      { env: env("ssh -i /keys/id -o X=/dev/null", "GIT_SSH_COMMAND"), secretVolumes: [volume("k", "/keys")] },
      {},
      ["k /keys"],
    ],
    ["none that merely begins alike", { env: env("/corp2/ca.pem"), secretVolumes: [volume("ca", "/corp")] }, {}, []],
    [
      "certificates where systems look",
      { secretVolumes: [volume("a", "/etc/ssl/certs/x.pem"), volume("b", "/etc/sslx")] },
      {},
      ["a /etc/ssl/certs/x.pem"],
    ],
    [
      "ssh and git",
      { secretVolumes: [volume("a", "/home/node/.ssh"), volume("b", "/etc/gitconfig"), volume("c", "/x/.sshd")] },
      {},
      ["a /home/node/.ssh", "b /etc/gitconfig"],
    ],
    ["named", { secretVolumes: [volume("a-1", "/a"), volume("b", "/b")] }, { inheritNames: ["a-*"] }, ["a-1 /a"]],
    ["all", { secretVolumes: [volume("a", "/a")], configMapVolumes: [volume("b", "/b")] }, { inherit: "all" }, ["a /a", "b /b"]],
    ["not by a variable that stays", { env: env("/a/x", "OTHER"), secretVolumes: [volume("a", "/a")] }, {}, []],
    [
      "all, but not the server's keys",
      { env: env("/keys/master", "PAPERCLIP_SECRETS_MASTER_KEY_FILE"), secretVolumes: [volume("m", "/keys"), volume("a", "/a")] },
      { inherit: "all", inheritNames: ["m"] },
      ["a /a"],
    ],
  ])("%s", (_, pod, settings, expected) => {
    expect(names(run(pod, settings))).toEqual(expected);
  });

  test.each<[string, Partial<OwnPod>, string]>([
    ["a projected volume", { otherMounts: [{ kind: "projected", mountPath: "/corp" }] }, "projected volume at /corp"],
    [
      "another claim",
      { claims: [...examplePod().claims, { ...examplePod().claims[0]!, claimName: "other", mountPath: "/corp" }] },
      "claim other at /corp",
    ],
    [
      "a folder inside a Secret's",
      { secretVolumes: [volume("a", "/corp")], otherMounts: [{ kind: "emptyDir", mountPath: "/corp/in" }] },
      "emptyDir volume at /corp/in",
    ],
    [
      "the server's own keys",
      { secretVolumes: [volume("a", "/corp")], envFrom: [{ kind: "secret", name: "k", prefix: "", optional: false }] },
      "Secret a at /corp",
    ],
  ])("a variable that names files on %s does not go", (_, pod, where) => {
    const inherited = run({ ...pod, env: env("/corp/in/ca.pem") }, {}, { PAPERCLIP_SECRETS_MASTER_KEY_FILE: "/corp/master" });
    expect(inherited.env.literals).toEqual({});
    expect(inherited.warnings).toEqual([
      `environment not taken: it names files on volumes that runs do not have: NODE_EXTRA_CA_CERTS (${where})`,
    ]);
  });

  test("the shared volume's and the image's files are there in a run too", () => {
    for (const path of ["/paperclip/ca.pem", "/usr/share/ca.pem"])
      expect(run({ env: env(path) }).env.literals).toEqual({ NODE_EXTRA_CA_CERTS: path });
  });

  test.each([
    ["0400", { defaultMode: 0o400 }, true],
    ["0440", { defaultMode: 0o440 }, true],
    ["0444", { defaultMode: 0o444 }, false],
    ["the default", { defaultMode: null }, false],
    ["0400 with readable items", { defaultMode: 0o400, items: [{ key: "a", path: "a", mode: 0o444 }] }, false],
    ["items of mode 0400", { defaultMode: 0o444, items: [{ key: "a", path: "a", mode: 0o400 }] }, true],
  ])("files of mode %s: kept, with a warning if a run cannot read them", (_, mode, unreadable) => {
    const inherited = run({ secretVolumes: [volume("a", "/a", mode)] }, { inherit: "all" });
    expect(inherited.secretVolumes).toEqual([expect.objectContaining(mode)]);
    expect(inherited.warnings).toEqual(unreadable ? [expect.stringContaining("Secret a at /a has a mode that lets only root read")] : []);
  });
});
