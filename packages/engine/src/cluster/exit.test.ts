import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestApi } from "./test-api.ts";

let api: TestApi;
beforeEach(async () => {
  api = await TestApi.start();
});
afterEach(() => api.stop());

/** Runs a script that subscribes, waits for what `then` says, and simply ends. */
async function runScript(then: string): Promise<{ code: number | null; output: string; msAfterDone: number }> {
  const script = `
    import { connect } from ${JSON.stringify(import.meta.resolve("./connection.ts"))};
    import { runWatch } from ${JSON.stringify(import.meta.resolve("./run-watch.ts"))};
    const hold = setInterval(() => {}, 1000);
    const connection = await connect({ kubeconfig: ${JSON.stringify(api.kubeconfig())} });
    const watch = runWatch(connection, "n", "app=x");
    watch.subscribe("a", () => {});
    ${then}
    console.log("done");
    clearInterval(hold);`;
  const child = spawn(process.execPath, ["--input-type=module", "--unhandled-rejections=strict", "-e", script], { stdio: "pipe" });
  let output = "";
  let done = 0;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (text.includes("done")) done = performance.now();
    });
  }
  const [code] = (await once(child, "exit")) as [number | null];
  return { code, output, msAfterDone: performance.now() - done };
}

const pause = (ms: number) => `await new Promise((resolve) => setTimeout(resolve, ${ms}));`;

test("a process with open watches ends by itself", async () => {
  const { code, output, msAfterDone } = await runScript(`await watch.ready; ${pause(100)}`);
  expect(output).toBe("done\n");
  expect(code).toBe(0);
  expect(msAfterDone).toBeLessThan(1000);
  expect(api.requests("GET").length).toBe(4);
});

test("so does one whose API server hangs, and one whose is gone", async () => {
  api.hook = () => true;
  expect(await runScript(pause(200))).toMatchObject({ code: 0, output: "done\n" });
  await api.down();
  const { code, output, msAfterDone } = await runScript(pause(200));
  expect({ code, output }).toEqual({ code: 0, output: "done\n" });
  expect(msAfterDone).toBeLessThan(1000);
  await api.up();
});
