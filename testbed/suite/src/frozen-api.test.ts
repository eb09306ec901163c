import { readFile, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { gatedScript, type RunHandle, startRun } from "./run.ts";

// An API server that is frozen, not dead: it accepts connections, keeps those it has, and answers nothing.

let bed: Bed;
let wire: Awaited<ReturnType<typeof startWire>>;
beforeAll(async () => {
  const plain = await startBed();
  wire = await startWire(plain.kubeconfig);
  bed = { ...plain, kubeconfig: wire.kubeconfig };
});
afterEach(async () => {
  wire.thaw();
  await calm(bed);
});
afterAll(async () => {
  wire.stop();
  await bed.stop();
});

/** In front of the API server; a kubeconfig that leads through it. */
async function startWire(kubeconfig: string) {
  const config = await readFile(kubeconfig, "utf8");
  const { host, hostname, port } = new URL(/https?:\/\/[^"\s]+/.exec(config)?.[0] ?? "");
  const sockets = new Set<Socket>();
  let frozen = false;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("data", (bytes) => other.write(bytes));
      one.on("error", () => other.destroy());
      one.on("close", () => sockets.delete(one) && other.destroy());
      if (frozen) one.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const through = `${kubeconfig}-wire`;
  await writeFile(through, config.replaceAll(host, `127.0.0.1:${(server.address() as AddressInfo).port}`));
  return {
    kubeconfig: through,
    freeze: () => {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw: () => {
      frozen = false;
      for (const socket of sockets) socket.resume();
    },
    stop: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const texts = (run: RunHandle) => run.status.map(({ text }) => text);
const SILENT = /^the API server does not answer since .*Z; (the run goes on, )?retrying$/;

test("a run that goes on and one that begins both say so; after the thaw both go on", async () => {
  const { script, release } = gatedScript(bed);
  const running = startRun(bed, { script });
  await running.saw("on\n");
  wire.freeze();
  const beginning = startRun(bed, { script: `console.log("late")` });
  for (const run of [running, beginning]) await expect.poll(() => texts(run)).toContainEqual(expect.stringMatching(SILENT));
  wire.thaw();
  for (const run of [running, beginning]) await expect.poll(() => texts(run)).toContain("the API server is back");
  await release();
  expect((await running.done).outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { complete: true } } });
  const { outcome, output } = await beginning.done;
  expect([outcome.kind, output.toString()]).toEqual(["exited", "late\n"]);
  for (const run of [running, beginning]) expect(texts(run).filter((text) => SILENT.test(text))).toHaveLength(1);
});

test.runIf(process.env.LONG)("a run that makes no request says so too, before the freeze has lasted 45 s", async () => {
  const { script, release } = gatedScript(bed);
  const running = startRun(bed, { script });
  await running.saw("on\n");
  wire.freeze();
  await expect.poll(() => texts(running)).toContainEqual(expect.stringMatching(SILENT));
  wire.thaw();
  await expect.poll(() => texts(running)).toContain("the API server is back");
  await release();
  expect((await running.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(texts(running).filter((text) => text.includes("node "))).toEqual([expect.stringContaining("pod scheduled on node")]);
});
