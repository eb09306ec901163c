import { expect, test } from "vitest";
import { buildMeta, type MetaInput } from "./build-meta.ts";
import { withoutTokens } from "./redact.ts";

const jwt = `eyJhbGciOiJIUzI1NiJ9.${"a".repeat(20)}.${"b".repeat(20)}`;
const input: MetaInput = {
  adapterType: "opencode_k8s",
  jobName: "agent-opencode-x",
  cwd: "/data/work",
  argv: ["opencode", "run"],
  image: "acme/agent:1",
  namespace: "agents",
  timeoutSec: 90,
  notes: ["from the plan"],
  env: {
    plain: { PAPERCLIP_RUN_ID: "run-1", HOME: "/agent/home", STRANGE_TOKEN: "seen" },
    secret: { DATABASE_URL: "postgres://u:p@db", LANG: "C" },
    references: [{ name: "OPENAI_API_KEY", valueFrom: {} }],
  },
  prompt: { text: "héllo", metrics: { promptChars: 5 }, notes: ["skills: fix"], warnings: [] },
  ctx: { context: { taskId: "t1", paperclipRuntimeTools: { bearerToken: "rt" }, said: `it is ${jwt}` }, authToken: "run-token" },
};

test("what the host shows about a run's start", async () => {
  expect(await buildMeta(input)).toEqual({
    adapterType: "opencode_k8s",
    command: "kubectl job/agent-opencode-x",
    cwd: "/data/work",
    commandArgs: ["opencode", "run", "<stdin prompt 5 chars>"],
    commandNotes: ["image acme/agent:1", "namespace agents", "time limit 90 s", "skills: fix", "from the plan"],
    env: {
      PAPERCLIP_RUN_ID: "run-1",
      HOME: "/agent/home",
      STRANGE_TOKEN: "***REDACTED***",
      DATABASE_URL: "***REDACTED***",
      LANG: "***REDACTED***",
      OPENAI_API_KEY: "***REDACTED***",
    },
    prompt: "héllo",
    promptMetrics: { promptChars: 5 },
    context: { taskId: "t1", said: "it is ***REDACTED***" },
  });
  expect((await buildMeta({ ...input, timeoutSec: 0 })).commandNotes).toContain("no time limit");
});

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ["carriers of tokens", { a: { paperclipManagedMcp: { x: 1 } }, runtimeTools: 1 }, { a: {} }],
  [
    "names",
    { list: [{ apiKey: "k", password: "p", authorization: "Bearer x" }] },
    { list: [{ apiKey: "***REDACTED***", password: "***REDACTED***", authorization: "***REDACTED***" }] },
  ],
  [
    "counts and lists of names stay",
    { inputTokens: 3, paperclipSecrets: { manifest: [{ name: "KEY" }] }, token: "", taskKey: "t" },
    { inputTokens: 3, paperclipSecrets: { manifest: [{ name: "KEY" }] }, token: "", taskKey: "t" },
  ],
  ["known values", { text: "see secret-value-1." }, { text: "see ***REDACTED***." }],
  [
    "shapes",
    { text: `${jwt}, sk-${"a".repeat(20)} and ghp_${"a".repeat(36)}` },
    { text: "***REDACTED***, ***REDACTED*** and ***REDACTED***" },
  ],
  [
    "URLs",
    { a: "https://tok@x.io/y", b: "postgres://u:p@db/x", c: "ssh://git@x.io/y", d: "https://x.io/a@b" },
    { a: "https://***REDACTED***@x.io/y", b: "postgres://u:***REDACTED***@db/x", c: "ssh://git@x.io/y", d: "https://x.io/a@b" },
  ],
])("nothing shown opens a door: %s", (_, value, shown) => {
  const before = JSON.stringify(value);
  expect(withoutTokens(value, ["secret-value-1", "1"])).toEqual(shown);
  expect(JSON.stringify(value)).toBe(before);
});

test.each<[string, string[], string[]]>([
  ["the value behind a name", ["cli", "--api-key", "abc", "run"], ["cli", "--api-key", "***REDACTED***", "run"]],
  ["the value in the same argument", ["--auth-token=abc", "--model=m"], ["--auth-token=***REDACTED***", "--model=m"]],
  ["settings in one argument", ["-c", "providers.acme.apiKey=abc"], ["-c", "providers.acme.apiKey=***REDACTED***"]],
  ["a header", ["--header", "Authorization: Bearer abc"], ["--header", "Authorization: ***REDACTED***"]],
  ["JSON", ["--config", '{"secret":"abc","n":1}'], ["--config", '{"secret":"***REDACTED***","n":1}']],
  ["shapes and URLs", [jwt, "https://u:p@x.io/y"], ["***REDACTED***", "https://***REDACTED***@x.io/y"]],
  ["an option is no value", ["--password", "--verbose"], ["--password", "--verbose"]],
  [
    "counts and other names",
    ["--max-tokens", "9", "--monkey", "see", "--keyboard=us"],
    ["--max-tokens", "9", "--monkey", "see", "--keyboard=us"],
  ],
])("an argument opens no door: %s", async (_, argv, shown) => {
  expect((await buildMeta({ ...input, argv })).commandArgs?.slice(0, -1)).toEqual(shown);
});

test("data that contains itself comes to an end", () => {
  const loop: Record<string, unknown> = { name: "x" };
  loop.self = loop;
  expect(JSON.stringify(withoutTokens(loop)).length).toBeLessThan(1000);
});
