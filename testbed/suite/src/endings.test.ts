import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { finishRun, startRun } from "./run.ts";

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

describe("exit codes", () => {
  test.each([0, 1, 3, 137])("exit %i is reported as it is, with its output", async (code) => {
    const { outcome, output } = await finishRun(bed, {
      script: `console.log("line one"); console.log("line two"); process.exitCode = ${code}`,
    });
    expect(outcome).toMatchObject({ kind: "exited", exitCode: code, evidence: { proof: "end-record", output: { complete: true } } });
    expect(output.toString()).toBe("line one\nline two\n");
  });

  test("death by SIGTERM that nobody here sent", async () => {
    const { outcome } = await finishRun(bed, {
      script: `process.stdout.write("x\\n", () => process.kill(process.pid, "SIGTERM")); setTimeout(() => {}, 5000)`,
    });
    expect(outcome).toMatchObject({ kind: "exited", exitCode: null, signal: "SIGTERM" });
  });

  test("a CLI that is not in the image was never started", async () => {
    const { outcome } = await finishRun(bed, { argv: ["no-such-cli"] });
    expect(outcome).toMatchObject({ kind: "never-started", cause: "cli-missing", message: expect.stringContaining("no-such-cli") });
  });
});

describe("output", () => {
  test("none at all", async () => {
    const { outcome, output } = await finishRun(bed, { script: "" });
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { complete: true, expected: 0 } } });
    expect(output).toHaveLength(0);
  });

  test("without a final newline, invalid UTF-8, NULs", async () => {
    const { outcome, output } = await finishRun(bed, {
      script: `process.stdout.write(Buffer.from([0x61, 0xff, 0xfe, 0x0a, 0x00, 0x62, 0xe2, 0x82]))`,
    });
    expect(outcome.evidence.output).toMatchObject({ complete: true, expected: 8 });
    expect([...output]).toEqual([0x61, 0xff, 0xfe, 0x0a, 0x00, 0x62, 0xe2, 0x82]);
  });

  test("a line of 5 MB", async () => {
    const { outcome, output } = await finishRun(bed, { script: `process.stdout.write("y".repeat(5_000_000) + "\\n")` });
    expect(outcome.evidence.output).toMatchObject({ complete: true, expected: 5_000_001 });
    expect(output.length).toBe(5_000_001);
    expect(output.subarray(0, -1).every((byte) => byte === 0x79)).toBe(true);
  });

  const MEGABYTES = process.env.LONG ? 200 : 20;

  test(`${MEGABYTES} MB arrive whole and in order`, async () => {
    const lines = MEGABYTES * 10_000;
    const script = `const line = (i) => String(i).padStart(9, "0") + "z".repeat(90) + "\\n"; let i = 0;
      const more = () => { while (i < ${lines}) if (!process.stdout.write(line(i++))) return process.stdout.once("drain", more); }; more();`;
    const hash = createHash("sha256");
    const { outcome } = await finishRun(bed, {
      script,
      onOutput: (bytes) => void hash.update(bytes),
    });
    expect(outcome.evidence.output).toMatchObject({ complete: true, expected: lines * 100 });
    const wanted = createHash("sha256");
    for (let i = 0; i < lines; i += 1000)
      wanted.update(Array.from({ length: 1000 }, (_, k) => `${String(i + k).padStart(9, "0")}${"z".repeat(90)}\n`).join(""));
    expect(hash.digest("hex")).toBe(wanted.digest("hex"));
  });

  test("stderr is kept apart", async () => {
    const { output, stderr } = await finishRun(bed, { script: `console.error("trouble"); console.log("fine")` });
    expect(output.toString()).toBe("fine\n");
    expect(stderr).toBe("trouble\n");
  });
});

describe("stdin and environment", () => {
  const odd = `$(X) $$ $\{HOME} \\c \\\\ "quotes" 'single' \`tick\` \u{1f600} \r\n\t ünï \u0001\u007f`;

  test("a prompt of 900 KiB arrives byte for byte", async () => {
    const prompt = Buffer.concat([Buffer.from(odd), Buffer.from([0xff, 0xfe, 0x80]), Buffer.alloc(900 * 1024, odd)]).subarray(
      0,
      900 * 1024,
    );
    const script = `const h = require("crypto").createHash("sha256"); let n = 0; process.stdin.on("data", (d) => { h.update(d); n += d.length; }).on("end", () => console.log(n, h.digest("hex")))`;
    const { output } = await finishRun(bed, { script, change: (request) => ({ ...request, stdin: prompt }) });
    expect(output.toString()).toBe(`${prompt.length} ${createHash("sha256").update(prompt).digest("hex")}\n`);
  });

  test("environment values with dollars, plain and secret", async () => {
    const script = `console.log(JSON.stringify([process.env.PLAIN, process.env.SECRET]))`;
    const env = { plain: { PLAIN: odd, X: "expanded" }, secret: { SECRET: odd }, references: [] };
    const { output } = await finishRun(bed, { script, change: (request) => ({ ...request, env }) });
    expect(JSON.parse(output.toString())).toEqual([odd, odd]);
  });

  test("a prompt too large for a Secret is refused before anything is created", async () => {
    const before = bed.requests.filter((request) => request.verb === "create").length;
    const run = startRun(bed, { script: "", change: (request) => ({ ...request, stdin: Buffer.alloc(1024 * 1024) }) });
    await expect(run.done).rejects.toMatchObject({ code: "prompt_too_large" });
    expect(bed.requests.filter((request) => request.verb === "create")).toHaveLength(before);
    expect(existsSync(run.request.output.path)).toBe(false);
  });
});

describe("stopping", () => {
  test("the time limit ends a CLI that ignores SIGTERM", async () => {
    const script = `process.on("SIGTERM", () => console.log("ignored")); console.log("on"); setInterval(() => {}, 1000)`;
    const { outcome, output } = await finishRun(bed, {
      script,
      change: (request) => ({ ...request, limits: { ...request.limits, timeoutSec: 1, graceSec: 1 } }),
    });
    expect(outcome).toMatchObject({ kind: "timed-out", by: "runner", evidence: { output: { complete: true } } });
    expect(output.toString()).toBe("on\nignored\n");
  });

  test("the limit of output ends a CLI that does not stop writing, and exactly that much is delivered", async () => {
    const script = `let lines = 1e6; const more = () => { while (lines-- > 0) if (!process.stdout.write("0123456789abcde\\n")) return process.stdout.once("drain", more); }; more();`;
    const { outcome, output } = await finishRun(bed, {
      script,
      change: (request) => ({ ...request, limits: { ...request.limits, outputBytes: 1_000_001 } }),
    });
    expect(outcome).toMatchObject({
      kind: "killed",
      by: "output-limit",
      message: "the CLI was ended: it wrote more than 1000001 bytes of output; the rest was not kept",
      remedy: "raise limits.outputBytes in the policy",
      evidence: { proof: "end-record", output: { delivered: 1_000_001 } },
    });
    expect(output.toString()).toBe("0123456789abcde\n".repeat(62_501).slice(0, 1_000_001));
  });

  test("a child that is left behind, holding stdout, does not hold the run", async () => {
    const script = `require("child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: ["ignore", "inherit", "ignore"], detached: false }); console.log("done"); process.exit(0)`;
    // The child itself never ends.
    const { outcome, output } = await finishRun(bed, { script });
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { endRecord: { leftoversEnded: true } } });
    expect(output.toString()).toBe("done\n");
  });
});

test("a run leaves nothing behind: no Job, Secret, pod or file", async () => {
  const { request, done } = startRun(bed, { script: `console.log("x")` });
  await done;
  expect(existsSync(request.output.path)).toBe(false);
  expect(existsSync(`${request.output.path}.meta`)).toBe(false);
  for (const kind of ["jobs", "secrets", "pods"] as const) {
    await expect.poll(async () => (await bed.list(kind)).length).toBe(0);
  }
});

test("what a pod writes to its output file past the runner is read up to the limit at most, and is no success", async () => {
  const outputBytes = 100_000;
  const script = `require("node:fs").appendFileSync(process.env.OUTPUT, "y".repeat(1e6)); console.log("x")`;
  const { outcome, output } = await finishRun(bed, {
    script,
    change: (request) => ({
      ...request,
      env: { ...request.env, plain: { ...request.env.plain, OUTPUT: request.output.path } },
      limits: { ...request.limits, outputBytes },
    }),
  });
  expect(outcome).toMatchObject({ kind: "exited", evidence: { output: { complete: false } } });
  // The runner said that it wrote 2 bytes, so the reader may stop anywhere after those.
  expect(output.length).toBeLessThanOrEqual(outputBytes);
  expect(output.toString()).toMatch(/^y+$/);
});
