import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { RUNNER_EXIT } from "./records.ts";
import { cleanUp, node, preparePod, runPod, shell, waitFor } from "./testing/runner-fixture.ts";

afterAll(cleanUp);

describe.concurrent("how the CLI ended", () => {
  test.for([0, 1, 3, 137])("exit code %i is the container's", async (code) => {
    const pod = preparePod({ argv: shell(`echo hello; exit ${code}`) });
    const ended = await pod.start().ended;
    expect(ended.code).toBe(code);
    expect(ended.end).toMatchObject({ exitCode: code, signal: null, cause: "exit", bytes: 6, written: 6, lines: 1, error: null });
    expect(ended.message).toMatchObject({ format: 1, run: "run-1", nonce: "n-1", exitCode: code, cause: "exit", bytes: 6, written: 6 });
    expect(readFileSync(pod.spec.files.output, "utf8")).toBe("hello\n");
    expect(ended.stdout.toString()).toBe("hello\n");
  });

  test.for([
    ["TERM", 143],
    ["KILL", 137],
    ["SEGV", 139],
  ] as const)("death by SIG%s exits %i", async ([signal, code]) => {
    const ended = await runPod({ argv: shell(`kill -${signal} $$`) });
    expect(ended.code).toBe(code);
    expect(ended.end).toMatchObject({ exitCode: null, signal: `SIG${signal}`, cause: "exit", leftoversEnded: false });
  });

  test("no output at all", async () => {
    const pod = preparePod({ argv: shell("exit 0"), spec: { finalLine: { pattern: ".", endAfterSec: null } } });
    const ended = await pod.start().ended;
    expect(ended.code).toBe(0);
    expect(ended.end).toMatchObject({ exitCode: 0, bytes: 0, written: 0, lines: 0 });
    expect(ended.message.finalLine).toBeNull();
    expect(readFileSync(pod.spec.files.output).length).toBe(0);
  });

  test("the meta file begins with whose it is and ends with the end", async () => {
    const ended = await runPod({ argv: shell("echo a; echo oops >&2") });
    expect(ended.meta.map((record) => record.type)).toEqual(["start", "cli-started", "stderr", "end"]);
    expect(ended.meta[0]).toMatchObject({ run: "run-1", nonce: "n-1", pod: "pod-1", runtime: `node ${process.versions.node}` });
    expect(ended.meta[2]).toMatchObject({ text: "oops\n" });
    for (const record of ended.meta) expect(new Date(record.at).toISOString()).toBe(record.at);
    expect(ended.stderr).toBe("oops\n");
  });

  test("a program that is not there", async () => {
    const ended = await runPod({ argv: ["no-such-program", "--token=hush"], env: { PATH: "/nowhere:/usr/nowhere" } });
    expect(ended.code).toBe(RUNNER_EXIT.notFound);
    expect(ended.end).toMatchObject({ exitCode: 127, cause: "spawn-failed", bytes: 0 });
    expect(ended.message.error).toContain("no-such-program");
    expect(ended.message.error).toContain("/nowhere");
    expect(ended.stderr).toContain("no-such-program");
    expect(ended.rawMessage?.toString() + ended.stderr + JSON.stringify(ended.meta)).not.toContain("hush");
  });

  test("a program that may not be run", async () => {
    const pod = preparePod({ argv: ["./plain-file"] });
    writeFileSync(join(pod.folder, "plain-file"), "no program");
    chmodSync(join(pod.folder, "plain-file"), 0o644);
    const ended = await pod.start().ended;
    expect(ended.code).toBe(RUNNER_EXIT.notExecutable);
    expect(ended.end).toMatchObject({ exitCode: 126, cause: "spawn-failed" });
    expect(ended.message.error).toContain("EACCES");
  });

  test("an argument no program can be given", async () => {
    const ended = await runPod({ argv: ["/bin/echo", "hush\0"] });
    expect(ended.code).toBe(RUNNER_EXIT.notExecutable);
    expect(ended.end?.cause).toBe("spawn-failed");
    expect(ended.rawMessage?.toString()).not.toContain("hush");
  });

  test.for([
    ["not JSON", '{"argv": ["hush'],
    ["of another format", '{"format": 2, "nonce": "hush"}'],
    ["without a command", '{"format": 1, "argv": [], "nonce": "hush"}'],
  ])("a spec %s", async ([, text]) => {
    const pod = preparePod({ argv: ["true"] });
    writeFileSync(join(pod.folder, "in", "spec.json"), text ?? "");
    const ended = await pod.start().ended;
    expect(ended.code).toBe(RUNNER_EXIT.badSpec);
    expect(ended.message.error).toContain("the spec");
    expect(ended.rawMessage?.toString() + ended.stderr).not.toContain("hush");
  });

  test("the working directory and the environment are the container's own", async () => {
    const script = "process.stdout.write(JSON.stringify([process.cwd(), process.env.PLAIN, process.env.SECRET]))";
    const secret = "a$b $(X) $$ $Y \\ \"q\" 'q' 🙂\n";
    const env = { PLAIN: "$HOME", SECRET: "shadowed" };
    const pod = preparePod({ argv: node(script), env, spec: { env: { SECRET: secret } } });
    const ended = await pod.start().ended;
    expect(JSON.parse(ended.stdout.toString())).toEqual([pod.folder, "$HOME", secret]);
  });
});

test("a runner that fails says so, and that it took the CLI with it", async () => {
  // Breaks the runner, and none of the processes it starts.
  const crash = `const look = () => { if (require("node:fs").existsSync("crash")) throw new TypeError("secret") };
    if (process.argv[2]?.endsWith("termination-log")) setInterval(look, 20)`;
  const env = { NODE_OPTIONS: "--require=./in/crash.cjs" };
  const pod = preparePod({ argv: shell("echo on; sleep 600"), files: { "crash.cjs": crash }, env });
  const running = pod.start();
  await waitFor(() => readFileSync(pod.spec.files.meta, "utf8").includes("cli-started"), "the CLI");
  writeFileSync(join(pod.folder, "crash"), "");
  const ended = await running.ended;
  expect(ended.code).toBe(RUNNER_EXIT.failed);
  expect(ended.meta.map(({ type }) => type)).toContain("cli-started");
  expect(ended.message).toMatchObject({ run: "run-1", cause: "runner-failed", signal: "SIGKILL", error: "the runner failed: TypeError" });
  expect(ended.end).toBeUndefined();
});
