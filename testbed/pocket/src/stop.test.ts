import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { startPocket } from "./index.ts";
import { markedProcesses, podMarker } from "./processes.ts";
import { call, createJob, images, openWatch, runningPod, secrets, until } from "./test-client.ts";

const own = mkdtempSync(join(tmpdir(), "pocket-test-"));
afterAll(() => rmSync(own, { recursive: true }));
const makeDir = (): string => mkdtempSync(join(own, "dir-"));

const leave = process.platform === "linux" ? "setsid " : "";
const stubborn = `trap '' TERM; ${leave}sh -c 'while :; do sleep 0.1; done' & while :; do sleep 0.1; done`;

test.concurrent("stopping ends every process, also those in a group of their own, every connection, and removes the folder", async () => {
  const cluster = await startPocket({ images });
  cluster.createNamespace("a");
  await createJob(cluster, "a", "stays", stubborn);
  const { uid } = (await runningPod(cluster, "a", "stays")).metadata;
  const log = await openWatch(cluster, secrets("a"));
  cluster.faults.hang({ verb: "list" });
  const hung = call(cluster, "GET", secrets("a")).catch(() => "ended");
  expect(markedProcesses(podMarker, uid).length).toBeGreaterThanOrEqual(2);
  await cluster.stop();
  expect(markedProcesses(podMarker, uid)).toEqual([]);
  expect(existsSync(cluster.dir)).toBe(false);
  await log.done;
  expect(await hung).toBe("ended");
});

test("a folder that was given stays, emptied of what pocket put there", async () => {
  const dir = makeDir();
  const cluster = await startPocket({ dir });
  expect(existsSync(cluster.kubeconfig)).toBe(true);
  await cluster.stop();
  expect(readdirSync(dir)).toEqual([]);
});

// Both ways a test run may leave its cluster: its worker exits, or is killed and runs no exit handler.
test.concurrent.each([
  ["exits", "process.exit(0)"],
  ["is killed", 'process.kill(process.pid, "SIGKILL")'],
])("a process that %s without stopping its cluster leaves no pod process and no file", async (_how, end) => {
  const dir = makeDir();
  const script = `
    const { startPocket } = await import(${JSON.stringify(fileURLToPath(new URL("./index.ts", import.meta.url)))});
    const { createJob, runningPod } = await import(${JSON.stringify(fileURLToPath(new URL("./test-client.ts", import.meta.url)))});
    const cluster = await startPocket({ dir: ${JSON.stringify(dir)}, images: ${JSON.stringify(images)} });
    await createJob(cluster, "default", "left", ${JSON.stringify(stubborn)});
    console.log((await runningPod(cluster, "default", "left")).metadata.uid);
    setTimeout(() => ${end}, 50);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const chunk of child.stdout) text += String(chunk);
  const uid = text.trim();
  expect(uid).toMatch(/^[0-9a-f-]{36}$/);
  await until(() => markedProcesses(podMarker, uid).length === 0 && readdirSync(dir).length === 0, "nothing left");
});

test.concurrent("a cluster does not keep its process alive once it is stopped", async () => {
  const index = JSON.stringify(fileURLToPath(new URL("./index.ts", import.meta.url)));
  const script = `const { startPocket } = await import(${index}); await (await startPocket()).stop();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
  const code = await new Promise((resolve) => child.once("exit", resolve));
  expect(code).toBe(0);
});
