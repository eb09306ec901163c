import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { Agent } from "../src/host/company.ts";
import { dropRoot } from "../src/server/user.ts";
import { openStage, type Stage } from "../src/stage.ts";
import { LONG, NEWEST } from "./breadth.ts";
import { expectUntouched, hireBoth, type Round, restartRound } from "./in-place/restarts.ts";

// The server goes away under live runs of the built-in types: no issue is held, each CLI was started once, every issue is done, nobody acted.
// RESTARTS and LIVE_RUNS set the counts; KIND=own shows our own types beside it, whose issues the host holds.

const RESTARTS = Number(process.env.RESTARTS ?? (LONG ? 20 : 1));
const LIVE_RUNS = Number(process.env.LIVE_RUNS ?? (LONG ? 10 : 4));
const KIND = process.env.KIND === "own" ? "own" : "in place";

describe.each(["SIGTERM", "SIGKILL"] as const)(`Paperclip ${NEWEST}, %s`, (signal) => {
  let stage: Stage;
  let agents: Agent[];
  beforeAll(async () => {
    dropRoot();
    stage = await openStage(inject("packed"), { version: NEWEST, builtIn: true, say: (line) => console.log(line) });
    agents = await hireBoth(stage, inject("packed"), KIND);
  });
  afterAll(() => stage?.stop());

  test(`${KIND}: ${RESTARTS} times under ${LIVE_RUNS} live runs`, { timeout: RESTARTS * 600_000 }, async () => {
    const rounds: Round[] = [];
    for (let count = 0; count < RESTARTS; count++) {
      rounds.push(await restartRound(stage, agents, signal, LIVE_RUNS));
      console.log(`${signal} ${count + 1} of ${RESTARTS}, ${KIND}: ${JSON.stringify(rounds.at(-1))}`);
    }
    if (KIND === "in place") for (const round of rounds) expectUntouched(round, LIVE_RUNS);
    else expect(rounds.reduce((sum, { held }) => sum + held, 0)).toBeGreaterThan(0);
  });
});
