import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "@paperclip-k8s/pocket";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { ServerProcess } from "./server-process.ts";

// Servers that are asked to end and live on for seconds, and servers that stand still.

const MINUTE = 60_000;

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
  const old = started(bed, [{ runId: first, key, script, continues: [] }], { lingerMs: 100, livesOn: true });
  await old.saw(first, "on");
  await old.askToEnd();
  await writeFile(gate, "");
  const { status } = await old.done(first);
  expect(status.map(({ text }) => text).join("\n")).toContain("this server is ending: Job and files are kept");
  const isOver = ({ metadata, status }: KubeObject) =>
    metadata.labels?.["suite.test/run-id"] === first && JSON.stringify(status ?? {}).includes('"Complete"');
  await expect.poll(async () => (await bed.list("jobs")).some(isOver)).toBe(true);
  // A server that keeps nothing deletes them after the linger.
  await sleep(1000);
  await old.end();
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
  const timeouts = { schedule: 10 * MINUTE, standstill: 5 * MINUTE, staleView: 3 * MINUTE };
  const server = started(bed, [{ runId, key, script, continues: [] }], { timeouts, ownClock: true });
  await server.heard(runId, "not scheduled yet");
  server.freeze();
  await trouble.undo();
  await expect.poll(() => existsSync(marks)).toBe(true);
  server.advance(11 * MINUTE);
  server.goOn();
  await server.heard(runId, "this server did not run for");
  await server.saw(runId, "on");
  // So long it takes time that has passed for no proof of anything, not even of the end.
  server.advance(timeouts.staleView);
  await writeFile(gate, "");
  expect((await server.done(runId)).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
});
