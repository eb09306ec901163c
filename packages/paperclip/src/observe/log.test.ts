import { expect, test } from "vitest";
import { RunLog } from "./log.ts";

test("chunks reach the host one after the other, in order, whatever it takes", async () => {
  const seen: string[] = [];
  let inside = 0;
  const log = new RunLog(async (stream, chunk) => {
    expect(++inside).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, chunk.length % 3));
    seen.push(`${stream}:${chunk}`);
    inside--;
  });
  const chunks = Array.from({ length: 50 }, (_, index) => "x".repeat(index % 7) + index);
  await Promise.all(chunks.map((chunk) => log.write("stdout", chunk)));
  expect(seen).toEqual(chunks.map((chunk) => `stdout:${chunk}`));
});

test("a host that fails loses that chunk and nothing else", async () => {
  const seen: string[] = [];
  const log = new RunLog(async (_, chunk) => {
    if (chunk === "bad") throw new Error("disk full");
    seen.push(chunk);
  });
  for (const chunk of ["a", "bad", "b"]) await log.write("stdout", chunk);
  expect(seen).toEqual(["a", "b"]);
});

test("a log that hangs does not hold the result", async () => {
  const log = new RunLog(() => new Promise(() => {}));
  void log.write("stdout", "x");
  await log.idle(20);
});

test("errors and warnings name no user of a home folder; other lines stay as they are", async () => {
  const seen: string[] = [];
  const log = new RunLog(async (_, chunk) => void seen.push(chunk));
  await log.warning("kubeconfig /home/alice/.kube/config is not there");
  await log.failure("ENOENT: /Users/bob/x, C:\\Users\\eve\\y");
  await log.info("the agent works in /home/alice/work");
  expect(seen).toEqual([
    "[paperclip] kubeconfig /home/a****/.kube/config is not there\n",
    "✖ ENOENT: /Users/b**/x, C:\\Users\\e**\\y\n",
    "[paperclip] the agent works in /home/alice/work\n",
  ]);
});

test("warnings go to stderr, all our lines bear our mark", async () => {
  const seen: string[] = [];
  const log = new RunLog(async (stream, chunk) => void seen.push(`${stream}:${chunk}`));
  await log.info("one");
  await log.warning("two");
  expect(seen).toEqual(["stdout:[paperclip] one\n", "stderr:[paperclip] two\n"]);
});

test("beside raw lines, which the host's parser shows, our lines are folded; a warning is not, nor why the run failed", async () => {
  const seen: string[] = [];
  const log = new RunLog(async (stream, chunk) => void seen.push(`${stream}:${chunk}`));
  log.format = "raw";
  await log.info("one");
  await log.warning("two");
  await log.failure("three");
  expect(seen).toEqual(["system:[paperclip] one\n", "stderr:[paperclip] two\n", "stdout:✖ three\n"]);
});

test("why a run failed is one open line, whatever it quotes", async () => {
  const seen: string[] = [];
  const log = new RunLog(async (stream, chunk) => void seen.push(`${stream}:${chunk}`));
  await log.failure("no image\n[paperclip] released\u001b[2J");
  expect(seen).toEqual(["stdout:✖ no image ⏎ [paperclip] released\n"]);
});

test("what a line of ours quotes cannot make it two, nor steer a terminal", async () => {
  const seen: string[] = [];
  const log = new RunLog(async (_, chunk) => void seen.push(chunk));
  await log.warning("note: a\n[paperclip] b\u001b[2J\0\rc\u202e");
  await log.info("x".repeat(1_000_000));
  expect(seen[0]).toBe("[paperclip] note: a [paperclip] b c\n");
  expect(seen[1]?.length).toBeLessThan(5000);
});
