import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "../bed.ts";
import { calm } from "../calm.ts";
import { finishRun } from "../run.ts";

// A tool that the kernel kills for its memory while the CLI goes on: processes of the embedded cluster have no cgroup of their own.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

const hoard = `const hoard = []; setInterval(() => hoard.push(Buffer.alloc(50_000_000, 1)), 20)`;
const parent = (exitCode: number) =>
  `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(hoard)}]).on("exit", (code, signal) => { console.log(signal); process.exit(${exitCode}); })`;
const limits = { cpu: "2", memory: "300Mi" };

test.each([0, 1])("a child is killed and the CLI exits %i: reported with the limit and what to raise", async (exitCode) => {
  const { outcome, output } = await finishRun(bed, {
    script: parent(exitCode),
    change: (request) => ({ ...request, resources: { ...request.resources, limits } }),
  });
  expect(output.toString()).toBe("SIGKILL\n");
  expect(outcome).toMatchObject({ kind: "exited", exitCode, evidence: { memory: { killed: true, limit: "300Mi" } } });
  expect(outcome.evidence.warnings.join()).toMatch(
    /killed for lack of memory \(limit 300Mi, peak .*raise resources\.limits\.memory, now 300Mi/,
  );
});
