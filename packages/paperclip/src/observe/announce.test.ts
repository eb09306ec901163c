import type { Adoption, Engine } from "@paperclip-k8s/engine";
import { expect, test } from "vitest";
import type { RunInputs } from "../prepare/attempt.ts";
import { exampleAttempt, exampleInputs } from "../testing/example-attempt.ts";
import { hostContext } from "../testing/host-context.ts";
import { createAnnouncement, metaOf } from "./announce.ts";

const jwt = `eyJhbGciOiJIUzI1NiJ9.${"a".repeat(20)}.${"b".repeat(20)}`;
const context = { taskId: "t1", paperclipRuntimeTools: { bearerToken: "rt" }, said: `it is ${jwt}` };

function attempt(timeoutSec = 90, changes: Parameters<typeof hostContext>[0] = {}) {
  const { ctx, meta } = hostContext({ context, ...changes, change: { authToken: "run-token", ...changes?.change } });
  const inherited = { image: "acme/agent:1", namespace: "agents", notes: ["from the server"] } as unknown as RunInputs["inherited"];
  const made = exampleAttempt({
    inputs: exampleInputs({ ctx, inherited, config: { timeoutSec } as RunInputs["config"] }),
    plan: { argv: ["agent", "run", "it's it", { file: "settings" }], plainEnv: {}, secretEnv: {}, notes: ["from the plan"] },
    prompt: { text: "héllo", metrics: { promptChars: 5 }, notes: ["skills: fix"], warnings: [] },
    env: {
      plain: { PAPERCLIP_RUN_ID: "run-1", HOME: "/agent/home", STRANGE_TOKEN: "seen" },
      secret: { DATABASE_URL: "postgres://u:p@db", LANG: "C" },
      references: [{ name: "ACME_API_KEY", valueFrom: {} }],
      from: [],
      hidden: [],
      apiUrl: null,
      warnings: [],
    },
  });
  return { made, meta };
}

test("what the host shows about a run's start", async () => {
  const { made } = attempt();
  expect(await metaOf(made, "agent-example-x")).toEqual({
    adapterType: made.inputs.cli.type,
    command: "agent",
    cwd: "/data/work",
    commandArgs: ["run", "'it'\\''s it'", "<file settings>", "< prompt (5 characters)"],
    commandNotes: [
      "in Job agents/agent-example-x",
      "its output, unabridged, while the Job is there: kubectl -n agents logs -f job/agent-example-x",
      "image acme/agent:1",
      "time limit 90 s",
      "skills: fix",
      "from the plan",
      "from the server",
    ],
    env: {
      PAPERCLIP_RUN_ID: "run-1",
      HOME: "/agent/home",
      STRANGE_TOKEN: "***REDACTED***",
      DATABASE_URL: "***REDACTED***",
      LANG: "***REDACTED***",
      ACME_API_KEY: "***REDACTED***",
    },
    prompt: "héllo",
    promptMetrics: { promptChars: 5 },
    context: { taskId: "t1", said: "it is ***REDACTED***" },
  });
  expect((await metaOf(attempt(0).made, "j")).commandNotes).toContain("no time limit");
});

test("an attempt is announced once, and one that took a Job over shows that Job", async () => {
  const { made, meta } = attempt();
  const announce = createAnnouncement(made, {} as Engine);
  for (const name of ["job-1", "job-2"])
    await announce({ job: { name, images: { agent: "old:1", mesh: "m:1" } }, fromRun: "r2", firstRun: "r1" } as unknown as Adoption);
  // A field that is there gets a heading on the page, also an empty one.
  expect(meta).toEqual([
    {
      adapterType: made.inputs.cli.type,
      command: "kubectl -n agents logs -f job/job-1",
      cwd: "/data/work",
      commandNotes: ["Job agents/job-1", "adopted from run r2, started by run r1", "image old:1"],
      context: { taskId: "t1", said: "it is ***REDACTED***" },
    },
  ]);
});

test("a host that fails at it does not stop the run", async () => {
  const onMeta = () => Promise.reject(new Error("disk full"));
  const { made } = attempt(90, { change: { onMeta } });
  await createAnnouncement(made, {} as Engine)({ job: { name: "j", image: null }, fromRun: "r", firstRun: "r" } as unknown as Adoption);
});
