import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type AdapterType, KINDS } from "../src/agent-kinds.ts";
import { nextRun, runEnd } from "../src/host/follow.ts";
import { ARTEFACTS } from "../src/page/pictures.ts";
import { dropRoot } from "../src/server/user.ts";
import type { Stage } from "../src/stage.ts";
import { until } from "../src/wait.ts";
import { textOf } from "./agents/at-work.ts";
import { ELDER } from "./breadth.ts";
import { type EarlierAgent, type EarlierHome, openEarlierHome, workedBefore } from "./earlier/earlier-home.ts";
import { createAccount, type LiveJob, startLiveJob } from "./earlier/live-job.ts";
import type { StandInSpec } from "./earlier/stand-in.ts";
import { operator } from "./operator-cli.ts";

// Two homes as operators have them before the upgrade: settings as the earlier forms saved them, sessions whose files the real CLIs left in the
// shared home, and a live Job that nobody follows.

const MARK = "Remember the word marzipan.";

/** The command lines and places of the earlier adapters. */
const specs = ({ llm }: Pick<Stage, "llm">): readonly StandInSpec[] => {
  const { PAPERCLIP_OPENCODE_PROVIDERS } = KINDS.opencode_k8s.scripted(llm).provider;
  const provider = JSON.parse(PAPERCLIP_OPENCODE_PROVIDERS ?? "{}") as object;
  return [
    {
      type: "opencode_k8s",
      argv: ["opencode", "run", "--format", "json"],
      resume: "--session",
      env: {
        OPENCODE_DISABLE_PROJECT_CONFIG: "true",
        OPENCODE_CONFIG_CONTENT: JSON.stringify({ provider, permission: { external_directory: "allow" } }),
      },
      databases: {
        variable: "OPENCODE_DB",
        files: {
          dedicated_pvc: "{home}/../claims/{agent}/opencode.db",
          workspace_subpath: "{home}/.opencode-db/{company}/{agent}/{task}/opencode.db",
        },
      },
      mark: MARK,
    },
    {
      type: "claude_k8s",
      argv: ["claude", "--print", "-", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"],
      resume: "--resume",
      env: {},
      databases: { variable: "", files: {} },
      mark: MARK,
    },
  ];
};

/** What the form of each earlier adapter saved when an agent was made: every default, and empty values. */
const EMPTY = { serviceAccountName: "", nodeSelector: "", tolerations: "", labels: "", retainJobs: false };
const QUANTITIES = Object.fromEntries(
  ["requests.cpu", "requests.memory", "limits.cpu", "limits.memory"].map((key) => [`resources.${key}`, ""]),
);
const SAVED = {
  opencode: {
    ...EMPTY,
    ...QUANTITIES,
    variant: "",
    dangerouslySkipPermissions: true,
    agentDbStorageClass: "",
    agentDbStorageCapacity: "1Gi",
    imagePullPolicy: "IfNotPresent",
    ttlSecondsAfterFinished: 300,
    reattachOrphanedJobs: false,
  },
  claude: {
    ...EMPTY,
    ...QUANTITIES,
    maxTurnsPerRun: 1000,
    imagePullPolicy: "IfNotPresent",
    ttlSecondsAfterFinished: 0,
    reattachOrphanedJobs: true,
  },
  /** Of the adapter that kept a database per task on the shared volume. */
  workspace: {
    envGuardPlugin: false,
    compactThreshold: 0,
    enableDocker: false,
    dockerImage: "",
    dockerCpuLimit: "",
    dockerMemoryLimit: "",
  },
};

/** The account that some agents had for `kubectl`. */
const DEVELOPER = "paperclip-developer";

interface Plan {
  readonly name: string;
  readonly type: AdapterType;
  readonly saved: Readonly<Record<string, unknown>>;
}

interface HomePlan {
  readonly plans: readonly Plan[];
  readonly liveJob: { readonly of: string; readonly name: string };
  /** What upgrade-check refuses, and its exit code. */
  readonly refused: { readonly code: number; readonly refused: readonly string[] };
}

const HOMES: Readonly<Record<string, HomePlan>> = {
  "a shared home": {
    plans: [
      { name: "Otto", type: "opencode_k8s", saved: SAVED.opencode },
      { name: "Clara", type: "claude_k8s", saved: SAVED.claude },
    ],
    liveJob: { of: "Otto", name: "agent-opencode-otto-live-1a2b3c" },
    refused: { code: 0, refused: [] },
  },
  "a database of each task or agent": {
    plans: [
      { name: "Wanda", type: "opencode_k8s", saved: { ...SAVED.opencode, ...SAVED.workspace, agentDbMode: "workspace_subpath" } },
      { name: "Dedi", type: "opencode_k8s", saved: { ...SAVED.opencode, agentDbMode: "dedicated_pvc", reattachOrphanedJobs: true } },
      { name: "Carl", type: "claude_k8s", saved: { ...SAVED.claude, serviceAccountName: DEVELOPER } },
    ],
    liveJob: { of: "Carl", name: "ac-carl-live-1a2b3c" },
    refused: { code: 3, refused: ["REFUSED serviceAccountName"] },
  },
};

describe.each(Object.entries(HOMES))(`Paperclip ${ELDER}, %s`, (title, { plans, liveJob, refused }) => {
  let home: EarlierHome;
  let live: LiveJob;
  const workers = new Map<string, EarlierAgent>();

  beforeAll(async () => {
    dropRoot();
    home = await openEarlierHome(ELDER, specs);
    for (const { name, type, saved } of plans) {
      const worker = await workedBefore(home, name, type, { ...saved, ...home.config(type) });
      workers.set(name, worker);
      if (saved.agentDbMode === "dedicated_pvc")
        home.cluster.createClaim(home.namespace, `opencode-db-${worker.agent.id}`, join(home.host.home.root, "claims", worker.agent.id));
    }
    await createAccount(home, DEVELOPER);
    live = await startLiveJob(home, workers.get(liveJob.of)!, liveJob.name);
  });
  afterAll(() => home?.stop());

  test("upgrade-check says what the upgrade means for each agent, while the earlier adapters are installed", async () => {
    const { code, out } = await operator(home, ["upgrade-check", "-n", home.namespace, "--policy", home.policy]);
    mkdirSync(ARTEFACTS, { recursive: true });
    writeFileSync(join(ARTEFACTS, `upgrade-check-${title.replaceAll(" ", "-")}.txt`), out);
    const said = out.replace(/\s+/g, " ");
    for (const { name, type } of plans) expect(said).toContain(`${name} (${type}, `);
    expect(said).toContain(`waits Job ${home.namespace}/${live.name} of an earlier adapter is live`);
    expect(said).toContain("1 stored session: the task's next run looks for its files");
    expect({ code, refused: said.match(/REFUSED \S+/g) ?? [] }).toEqual(refused);
    if (plans.some(({ saved }) => saved.agentDbMode === "dedicated_pvc"))
      expect(said).toMatch(/kept claim agents\/opencode-db-\S+ is used as before/);
    const json = JSON.parse((await operator(home, ["upgrade-check", "-n", home.namespace, "-o", "json"])).out) as { agents: object[] };
    expect(json.agents).toHaveLength(plans.length);
  });

  test("after the switch the next wake of each agent goes on with its session; a live Job is waited for and left alone", async () => {
    // In the policy, because the host begins a new session when an agent's settings were changed.
    home.allow({ serviceAccounts: [DEVELOPER] });
    await home.switchTo(inject("packed"));
    const asked = home.llm.requests.length;
    for (const { name } of plans) {
      const { agent, issue, run } = workers.get(name)!;
      await home.company.comment(issue.id, `say:${name} goes on`);
      const next = await nextRun(home.company, agent, run);
      if (name === liveJob.of) {
        await until("the wait for the live Job", async () => (await textOf(home, next)).includes(live.name));
        expect(home.cluster.get("jobs", home.namespace, live.name)).toBeDefined();
        live.finish();
      }
      const ended = await runEnd(home.company, next.id);
      const log = await textOf(home, next);
      expect(ended, log).toMatchObject({ status: "succeeded", sessionIdAfter: run.sessionIdAfter });
      const turn = home.llm.requests
        .slice(asked)
        .findLast(({ tools, userTexts }) => tools > 0 && userTexts.at(-1)?.includes(`${name} goes on`));
      expect(turn?.userTexts.join("\n"), log).toContain(MARK);
    }
    expect(live.changes()).toEqual([]);
    expect(home.cluster.get("jobs", home.namespace, live.name)?.metadata.deletionTimestamp).toBeUndefined();
  });
});
