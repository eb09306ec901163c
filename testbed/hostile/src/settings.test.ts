import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MARK } from "./orders.ts";
import type { ServerProcess } from "./server/server-process.ts";
import { settingsAttacks } from "./settings.ts";
import { shortly } from "./stage/checks.ts";
import { type Innocent, placeHostFiles, placeWorkspace, startInnocent, startRun, workspaceOf } from "./stage/innocent.ts";
import { record } from "./stage/ledger.ts";
import { isSelected } from "./stage/selected.ts";
import { openStage, SERVER_SECRET, type Stage } from "./stage/stage.ts";

// What an agent asks for in its own settings, beside an innocent run: refused before anything is created, or left out.

let stage: Stage;
let server: ServerProcess;
let innocent: Innocent;

beforeAll(async () => {
  stage = await openStage();
  server = await stage.startServer({ allow: { images: ["registry.example/agents/*"], files: ["/srv/prompts"] } });
  await placeHostFiles(stage);
  await placeWorkspace(workspaceOf(stage, { id: "neighbour", company: "other-company" }));
  innocent = await startInnocent(stage, server);
});
afterAll(() => stage.stop());

test.each(Object.entries(settingsAttacks).filter(([id]) => isSelected(id)))("%s", async (id, { tries, config, refused }) => {
  const agent = { id: id.replace(/\W/g, "-"), company: "attacker-company" };
  const workspace = workspaceOf(stage, agent);
  await placeWorkspace(workspace);
  const orders = { role: "attack", gate: null, attacks: [], aim: {} } as const;
  const run = await startRun(stage, server, agent, { orders, config: config({ stage, workspace }) });
  const result = await run.done;
  const happened = refused === null ? "the run went on without it" : shortly(result);
  if (refused === null) expect(result, run.log()).toMatchObject({ exitCode: 0 });
  else {
    expect(result).toMatchObject({ errorCode: "configuration_incomplete", exitCode: null });
    // "Data claim (dataClaim): …", or "Image: …" where label and key are the same word.
    expect(result.errorMessage).toMatch(new RegExp(`(^|\\()${refused.replaceAll(".", "\\.")}(\\[\\d+\\])?\\)?:`, "im"));
    const jobs = await stage.bed.list("jobs");
    expect(jobs.filter(({ metadata }) => metadata.labels?.["paperclip.io/run-id"] === run.runId)).toEqual([]);
  }
  expect(existsSync(`${workspace}/ran`)).toBe(false);
  const shown = `${run.prompt()}${run.log()}${JSON.stringify(result)}`;
  for (const secret of [SERVER_SECRET, "the host's own", MARK]) expect(shown).not.toContain(secret);
  record({ id, tried: `asks for ${tries}`, happened, innocent: innocent.untouched(), server: server.gone ?? "lives" });
});

test("the innocent run ends as without attacks", async () => {
  await innocent.finish();
  expect(server.gone).toBeNull();
});
