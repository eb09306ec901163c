import { readdir, readFile } from "node:fs/promises";
import { dataFolder } from "@paperclip-k8s/paperclip/paths";
import { afterAll, beforeAll, expect, test } from "vitest";
import { onKube } from "../../suite/src/bed.ts";
import { ATTACKS } from "./attacker/list.ts";
import { MARK, type Report } from "./orders.ts";
import type { ServerProcess } from "./server/server-process.ts";
import { type Innocent, placeHostFiles, placeWorkspace, startInnocent, startRun, workspaceOf } from "./stage/innocent.ts";
import { record } from "./stage/ledger.ts";
import { PENDING } from "./stage/pending.ts";
import { isSelected } from "./stage/selected.ts";
import { openStage, SERVER_SECRET, type Stage } from "./stage/stage.ts";

// An attacker with the default policy tries what its pod, its relay and its volume let it, beside an innocent run of another company.

let stage: Stage;
let server: ServerProcess;
let innocent: Innocent;
let attackerRun: string;
const GROUPS = /^(volume|environment|relay)\//;
const wanted = Object.entries(ATTACKS).filter(([id, { only }]) => GROUPS.test(id) && isSelected(id) && (only === undefined || onKube));

beforeAll(async () => {
  stage = await openStage();
  server = await stage.startServer({});
  const host = await placeHostFiles(stage);
  innocent = await startInnocent(stage, server);
  const place = { dataPath: stage.bed.data, instanceId: "default" };
  const workspace = workspaceOf(stage, innocent.agent);
  const otherCompany = workspaceOf(stage, { id: "neighbour", company: "other-company" });
  await placeWorkspace(otherCompany);
  const aim: Record<string, string> = {
    ...host,
    data: stage.bed.data,
    allLogs: dataFolder(place, "run-logs"),
    otherWorkspace: workspace,
    otherCompany,
    otherInstructions: `${workspace}/AGENTS.md`,
    innocentOutput: innocent.output,
    innocentState: innocent.state,
    other: stage.other.url,
    otherToken: `token-of-${innocent.runId}`,
    otherRun: innocent.runId,
    secret: [...SERVER_SECRET].reverse().join(""),
    apiServer: "https://kubernetes.default.svc",
  };
  const attacker = await startRun(
    stage,
    server,
    { id: "attacker", company: "attacker-company" },
    {
      orders: { role: "attack", gate: null, attacks: wanted.map(([id]) => id), aim },
    },
  );
  attackerRun = attacker.runId;
  await attacker.done;
}, 300_000);
afterAll(() => stage.stop());

const reportOf = (id: string): Report => {
  const report = stage.listener.reports.find((each) => each.id === id);
  if (report === undefined) throw new Error(`the attacker did not report on ${id}`);
  return report;
};

test.for(wanted)("%s", ([id, { tries }], { skip }) => {
  if (PENDING[id] !== undefined) return skip(PENDING[id]);
  const { got, saw } = reportOf(id);
  expect(got, saw).toBe(false);
  record({ id, tried: tries, happened: saw, innocent: innocent.untouched(), server: server.gone ?? "lives" });
});

test("through the relay came only this run's own token, and only to the API's server", () => {
  const { arrived } = stage.listener;
  const shown = (path: string) =>
    arrived.filter(({ url }) => url.endsWith(path)).map(({ authorization, runId }) => `${authorization} ${runId}`);
  const own = ["/host-header", "/forwarded", "/beside-slow", "/after-garbage"].flatMap(shown);
  expect(new Set([...own, `Bearer token-of-${attackerRun} ${attackerRun}`]).size).toBe(1);
  expect(new Set([...shown("/other-token"), `Bearer token-of-${innocent.runId} ${innocent.runId}`]).size).toBe(1);
  expect(new Set([...shown("/no-token"), " "]).size).toBe(1);
  const api = new URL(stage.listener.url).host;
  expect(arrived.filter(({ url, host }) => /hidden|stolen|smuggle|break|giant/.test(url) || host !== api)).toEqual([]);
  expect(stage.other.arrived).toEqual([]);
});

test("the innocent run ends as without attacks, the server does another run, the host's files are unchanged", async () => {
  await innocent.finish();
  const next = await startInnocent(stage, server, { id: innocent.agent.id });
  await next.finish();
  const homes = stage.listener.reports.filter(({ id }) => id === "innocent/home").map(({ saw }) => saw);
  expect(homes.join()).not.toContain(MARK);
  expect(server.gone).toBeNull();
  if (!onKube) return;
  expect(await readFile(`${stage.bed.data}/adapter-plugins.json`, "utf8")).toBe("the host's own\n");
  expect(await readdir(workspaceOf(stage, innocent.agent))).not.toContain("planted");
});
