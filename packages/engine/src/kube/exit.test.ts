import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { TestApi } from "./testing/test-api.ts";

async function startApi(): Promise<TestApi> {
  const api = await TestApi.start();
  onTestFinished(() => api.stop());
  return api;
}

// All that could hold the process up takes longer than the test may.
const never = "{ timeoutMs: 600_000, idleMs: 600_000, backoff: { minMs: 600_000, maxMs: 600_000 } }";

test("a process ends by itself with watches open, on a server that hangs and on one that is gone", async () => {
  const [well, hanging, gone] = [await startApi(), await startApi(), await startApi()];
  hanging.hook = () => true;
  await gone.down();
  const script = `
    import { connect } from ${JSON.stringify(import.meta.resolve("./connection.ts"))};
    import { RunWatch } from ${JSON.stringify(import.meta.resolve("./watch/run-watch.ts"))};
    const hold = setInterval(() => {}, 1000);
    const watches = await Promise.all(${JSON.stringify([well, hanging, gone].map((api) => api.kubeconfig()))}.map(async (kubeconfig) => {
      const watch = new RunWatch(await connect({ kubeconfig }), "n", "app=x", ${never});
      watch.subscribe("a", () => {});
      return watch;
    }));
    await watches[0].ready;
    await new Promise((resolve) => setTimeout(resolve, 200));
    console.log("done");
    clearInterval(hold);`;
  const child = spawn(process.execPath, ["--input-type=module", "--unhandled-rejections=strict", "-e", script], { stdio: "pipe" });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  expect({ code, output }).toEqual({ code: 0, output: "done\n" });
  expect(well.requests("GET").length).toBe(4);
  await gone.up();
});
