import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

// In a process of its own: signals are real.

const MODULE = new URL("./process-ending.ts", import.meta.url).href;

/** What a host prints that gets SIGTERM with this code around ours, and how it ends. */
async function terminated(code: string): Promise<{ readonly said: string; readonly end: number | string | null }> {
  const program = `import { processEnding } from ${JSON.stringify(MODULE)};
    const shutdown = () => { console.log("shutdown"); setTimeout(() => { console.log("done"); process.exit(0); }, 100); };
    const begin = () => processEnding().addEventListener("abort", () => console.log("ending"));
    ${code}
    setInterval(() => {}, 1000);
    console.log("up");`;
  const host = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  host.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (text.includes("up\n")) host.kill("SIGTERM");
  });
  const [exitCode, signal] = await once(host, "close");
  return { said: said.replace("up\n", "").trim().replaceAll("\n", " "), end: exitCode ?? signal };
}

const gracefully = (said: string) => ({ said, end: 0 });

test.each([
  ["on, before ours", `process.on("SIGTERM", shutdown); begin();`, gracefully("ending shutdown done")],
  ["once, before ours", `process.once("SIGTERM", shutdown); begin();`, gracefully("ending shutdown done")],
  ["on, after ours", `begin(); process.on("SIGTERM", shutdown);`, gracefully("ending shutdown done")],
  ["once in front, after ours", `begin(); process.prependOnceListener("SIGTERM", shutdown);`, gracefully("shutdown ending done")],
  ["with two packages of ours", `begin(); begin(); process.once("SIGTERM", shutdown);`, gracefully("ending ending shutdown done")],
])("a host that shuts down by itself is heard and not disturbed: %s", async (_, code, expected) => {
  expect(await terminated(code)).toEqual(expected);
});

test.each([
  ["none at all", "begin(); begin();"],
  ["one that was removed", `begin(); process.on("SIGTERM", shutdown); process.removeListener("SIGTERM", shutdown);`],
])("a host without a listener ends by the signal as it would without us: %s", async (_, code) => {
  expect(await terminated(code)).toEqual({ said: "", end: "SIGTERM" });
});
