import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { ServerProcess } from "./server-process.ts";

// Servers that are asked to end and live on for seconds, and servers that stand still.

let bed: Bed;
const servers: ServerProcess[] = [];
beforeAll(async () => {
  bed = await startBed();
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill()));
  await bed.stop();
});

const started = (...args: ConstructorParameters<typeof ServerProcess>): ServerProcess => {
  const server = new ServerProcess(...args);
  servers.push(server);
  return server;
};

test("a CLI that ends after SIGTERM: its host discards the result, and the next server reads it again from the Job", async () => {
  const key = randomUUID();
  const [gate, marks] = [`${bed.data}/gate-${key}`, `${bed.data}/started-${key}`];
  const script = `const fs = require("node:fs"); fs.appendFileSync(${JSON.stringify(marks)}, "x"); console.log("on");
    const t = setInterval(() => { if (fs.existsSync(${JSON.stringify(gate)})) { clearInterval(t); console.log("the result"); } }, 20)`;
  const [first, next] = [randomUUID(), randomUUID()];
  const old = started(bed, [{ runId: first, key, script, continues: [] }], { lingerMs: 1000, livesOnMs: 4000 });
  await old.saw(first, "on");
  const gone = old.kill("SIGTERM");
  await writeFile(gate, "");
  const { status } = await old.done(first);
  expect(status.map(({ text }) => text).join("\n")).toContain("this server is ending: Job and files are kept");
  await gone;
  const server = started(bed, [{ runId: next, key, script, continues: [first] }]);
  const { outcome, output } = await server.done(next);
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { complete: true } } });
  expect(output).toBe("on\nthe result\n");
  expect(readFileSync(marks, "utf8")).toBe("x");
});

test("a server that stood still for longer than a start may take: the run whose CLI has started meanwhile goes on", async () => {
  const key = randomUUID();
  const [gate, marks] = [`${bed.data}/gate-${key}`, `${bed.data}/started-${key}`];
  const script = `const fs = require("node:fs"); fs.appendFileSync(${JSON.stringify(marks)}, "x"); console.log("on");
    const t = setInterval(() => { if (fs.existsSync(${JSON.stringify(gate)})) { clearInterval(t); } }, 20)`;
  const trouble = await bed.faults.unschedulable();
  const runId = randomUUID();
  const server = started(bed, [{ runId, key, script, continues: [] }], { timeouts: { schedule: 8000 } });
  await server.heard(runId, "not scheduled yet");
  server.freeze();
  await trouble.undo();
  await expect.poll(() => existsSync(marks)).toBe(true);
  await sleep(9000);
  server.goOn();
  await server.heard(runId, "this server did not run for");
  await server.saw(runId, "on");
  await writeFile(gate, "");
  expect((await server.done(runId)).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
});
