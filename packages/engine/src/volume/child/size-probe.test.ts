import { statSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Scratch, scratch, until } from "../testing/scratch.ts";

// That this is enough for a client with a cache is shown in the suite, on a mount with one.

let volume: Scratch;
beforeEach(() => {
  volume = scratch();
});
afterEach(() => volume.end());

describe("the look for the true size", () => {
  it("makes a caching client fetch the true size when nothing comes, and at every fresh look", async () => {
    const path = volume.path("a");
    writeFileSync(path, "x");
    const tail = volume.open().tail(path, { onBytes: () => {} });
    await until(() => tail.delivered === 1);
    const changed = statSync(path).ctimeMs;
    await tail.refresh();
    const refreshed = statSync(path).ctimeMs;
    expect(refreshed).toBeGreaterThan(changed);
    await until(() => statSync(path).ctimeMs > refreshed);
  });
});
