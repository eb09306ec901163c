import { afterAll, beforeAll, describe, inject, test } from "vitest";
import type { Version } from "../src/server/release.ts";
import { dropRoot } from "../src/server/user.ts";
import { openStage, type Stage } from "../src/stage.ts";
import { ELDER, LONG, NEWEST } from "./breadth.ts";
import { restartUnder, type Signal } from "./restart/restart-under.ts";

// A server goes away in the middle of its runs. Of the elder host, host.system.ts has SIGTERM.

const SIGNALS: readonly (readonly [Version, readonly Signal[]])[] = [
  [NEWEST, ["SIGTERM", "SIGKILL"]],
  [ELDER, ["SIGKILL"]],
];

describe.each(LONG ? SIGNALS : SIGNALS.slice(0, 1))("Paperclip %s", (version, signals) => {
  let stage: Stage;
  beforeAll(async () => {
    dropRoot();
    stage = await openStage(inject("packed"), { version, say: (line) => console.log(line) });
  });
  afterAll(() => stage?.stop());

  test.each(signals)(
    "%s: the next run adopts the Job, its agent still closes its issue, and without the relay it cannot; a cancel ends it",
    (signal) => restartUnder(stage, signal),
  );
});
