import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { descendantsOf, usageOf } from "./processes.ts";

test.runIf(process.platform === "linux")(
  "processes below one are found, those below them too, with what they use; ended ones use nothing",
  async () => {
    const busy = `for (const end = Date.now() + 100; Date.now() < end; ); console.log("on"); setInterval(() => {}, 1000);`;
    const program = `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(busy)}], { stdio: "inherit" });`;
    const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"], detached: true });
    await once(child.stdout!, "data");
    const below = descendantsOf(process.pid);
    const grandchildren = descendantsOf(child.pid!);
    expect(below).toEqual(expect.arrayContaining([child.pid, ...grandchildren]));
    expect(grandchildren).toHaveLength(1);
    const usage = usageOf(grandchildren);
    expect(usage.cpuMs).toBeGreaterThan(0);
    expect(usage.rssBytes).toBeGreaterThan(1e6);
    expect(usage.peakBytes).toBeGreaterThanOrEqual(usage.rssBytes);
    process.kill(-child.pid!, "SIGKILL");
    await once(child, "close");
    expect(usageOf([child.pid!])).toEqual({ cpuMs: 0, rssBytes: 0, peakBytes: 0 });
  },
);
