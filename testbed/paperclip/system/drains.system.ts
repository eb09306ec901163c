import { afterAll, afterEach, beforeAll, inject, test } from "vitest";
import { TYPES } from "../src/agent-kinds.ts";
import { dropRoot } from "../src/server/user.ts";
import { openStage, type Stage } from "../src/stage.ts";
import { closeAll } from "./agents/at-work.ts";
import { LONG, NEWEST } from "./breadth.ts";
import { drainRuns } from "./drain/drain-rounds.ts";
import { lostResult } from "./drain/lost-result.ts";

// The host can lose what a drained run returned, in a deadlock of its database: see handover/drain/end-stored.ts.

const DRAINS = Number(process.env.DRAINS ?? (LONG ? 100 : 4));
const AT_ONCE = LONG ? 4 : 2;

let stage: Stage;
beforeAll(async () => {
  dropRoot();
  stage = await openStage(inject("packed"), { version: NEWEST, say: (line) => console.log(line) });
});
afterEach(() => closeAll(stage));
afterAll(() => stage?.stop());

test.each(TYPES)(`%s: ${DRAINS} drains of live runs: every result is kept, and every Job is taken over`, (type) =>
  drainRuns(stage, type, DRAINS, AT_ONCE),
);

test("where the host meets its deadlock all the same, the run is listed as left, and recover and the next run keep the Job's result", () =>
  lostResult(stage));
