import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openVolume, volumePid } from "../../../packages/engine/src/volume/volume.ts";
import { type Bed, startBed } from "./bed.ts";
import { startRun } from "./run.ts";

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.stop());

test("while the volume is slow to answer, the permissions of the run are already asked for", async () => {
  // The first user's timeout counts for all: here it has no end.
  const volume = openVolume(bed.data, { stallAfterMs: 36e5 });
  onTestFinished(() => volume.release());
  await volume.run("lookAt", { paths: [] }, 36e5);
  const reader = volumePid(bed.data);
  if (reader === null) return expect.unreachable();
  process.kill(reader, "SIGSTOP");
  onTestFinished(() => void process.kill(reader, "SIGCONT"));
  const run = startRun(bed, { script: `console.log("hello")` });
  const asked = (resource: string) => bed.requests.filter((each) => each.resource === resource).length;
  await expect.poll(() => asked("selfsubjectaccessreviews")).toBeGreaterThan(0);
  expect(await run.jobs()).toBe(0);
  process.kill(reader, "SIGCONT");
  expect((await run.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
});
