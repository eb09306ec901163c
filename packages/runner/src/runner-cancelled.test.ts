import { existsSync, writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { startFileOf } from "./records.ts";
import { cleanUp, preparePod, shell } from "./testing/runner-fixture.ts";

afterAll(cleanUp);

test("a run whose start was forbidden starts no CLI, though no signal has come, and says so", async () => {
  const pod = preparePod({ argv: shell("echo ran > ran") });
  writeFileSync(startFileOf(pod.spec.files), "");
  const { code, end } = await pod.start().ended;
  expect(existsSync(`${pod.folder}/ran`)).toBe(false);
  expect(code).toBe(143);
  expect(end).toMatchObject({ cause: "stopped", error: "stopped before the CLI was started" });
});

test("a run that starts its CLI takes the file, so that a later cancel sees that it came too late", async () => {
  const pod = preparePod({ argv: shell("echo ran > ran") });
  expect((await pod.start().ended).code).toBe(0);
  expect(existsSync(startFileOf(pod.spec.files))).toBe(true);
});
