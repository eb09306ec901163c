import { createHash } from "node:crypto";
import { appendFileSync, createReadStream, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { cleanUp, node, preparePod, runPod, shell, waitFor } from "./testing/runner-fixture.ts";

afterAll(cleanUp);

const MIB = 1024 * 1024;
const hashOf = async (file: string): Promise<string> => {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest("hex");
};

const BLOCKS = process.env.LONG ? 200 : 20;

test("a lot of output: nothing lost", async () => {
  const script = `const fs = require("node:fs"); const block = Buffer.alloc(${MIB}, "0123456789abcde\\n");
    for (let i = 0; i < ${BLOCKS}; i++) { block.writeUInt32BE(i, 1000); for (let at = 0; at < block.length;) at += fs.writeSync(1, block, at); }`;
  const pod = preparePod({
    argv: node(script),
    spec: { finalLine: { pattern: "^nothing", endAfterSec: null } },
    log: "ignore",
  });
  const ended = await pod.start().ended;
  const block = Buffer.alloc(MIB, "0123456789abcde\n");
  const expected = createHash("sha256");
  for (let i = 0; i < BLOCKS; i++) {
    block.writeUInt32BE(i, 1000);
    expected.update(block);
  }
  expect(ended.code).toBe(0);
  expect(ended.end).toMatchObject({ bytes: BLOCKS * MIB, written: BLOCKS * MIB, error: null });
  expect(await hashOf(pod.spec.files.output)).toBe(expected.digest("hex"));
});

describe.concurrent("output", () => {
  test("without a final newline, and that line is a final line", async () => {
    const pod = preparePod({ argv: shell("printf 'one\\nresult: two'"), spec: { finalLine: { pattern: "^result:", endAfterSec: null } } });
    const ended = await pod.start().ended;
    expect(readFileSync(pod.spec.files.output, "utf8")).toBe("one\nresult: two");
    expect(ended.end).toMatchObject({ bytes: 15, written: 15, lines: 1 });
    expect(ended.message.finalLine).toBe("result: two");
  });

  test("one line of 5 MB", async () => {
    const script = `process.stdout.write('{"type":"result","text":"' + "é".repeat(2_500_000) + '"}\\n')`;
    const pod = preparePod({ argv: node(script), spec: { finalLine: { pattern: '"type":"result"', endAfterSec: null } } });
    const ended = await pod.start().ended;
    const text = `{"type":"result","text":"${"é".repeat(2_500_000)}"}\n`;
    expect(readFileSync(pod.spec.files.output).equals(Buffer.from(text))).toBe(true);
    expect(ended.stdout.equals(Buffer.from(text))).toBe(true);
    expect(ended.end).toMatchObject({ bytes: Buffer.byteLength(text), lines: 1 });
    expect(Buffer.byteLength(ended.message.finalLine ?? "")).toBeGreaterThan(2040);
    expect(Buffer.byteLength(ended.message.finalLine ?? "")).toBeLessThanOrEqual(2048);
    expect(ended.message.finalLine).not.toContain("\uFFFD");
  });

  test("bytes that are no UTF-8 stay as they are", async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0xc3, 0x28, 0x0d, 0x0a, 0xf0, 0x9f]);
    const script = `require("node:fs").writeSync(1, Buffer.from("${bytes.toString("hex")}", "hex"))`;
    const pod = preparePod({ argv: node(script), spec: { finalLine: { pattern: ".", endAfterSec: null } } });
    const ended = await pod.start().ended;
    expect(readFileSync(pod.spec.files.output).equals(bytes)).toBe(true);
    expect(ended.stdout.equals(bytes)).toBe(true);
    expect(ended.end).toMatchObject({ bytes: bytes.length, lines: 2 });
  });

  test("is appended: what the file held stays", async () => {
    const pod = preparePod({ argv: shell("echo new") });
    appendFileSync(pod.spec.files.output, "old\n");
    await pod.start().ended;
    expect(readFileSync(pod.spec.files.output, "utf8")).toBe("old\nnew\n");
  });

  test("is on the volume while the CLI runs", async () => {
    const pod = preparePod({ argv: shell("echo first; while [ ! -e go ]; do sleep 0.05; done; echo last") });
    const running = pod.start();
    await waitFor(() => readFileSync(pod.spec.files.output, "utf8") === "first\n", "the first line alone");
    expect(running.process.exitCode).toBeNull();
    writeFileSync(join(pod.folder, "go"), "");
    await running.ended;
    expect(readFileSync(pod.spec.files.output, "utf8")).toBe("first\nlast\n");
  });

  test("of stderr beyond 1 MiB the last words are kept, and the rest is counted", async () => {
    const script = `const fs = require("node:fs"); const line = "e".repeat(99) + "\\n"; for (let i = 0; i < 20000; i++) fs.writeSync(2, line);
      fs.writeSync(2, "Error: 529 overloaded\\n")`;
    const ended = await runPod({ argv: node(script) });
    const kept = ended.meta.flatMap((record) => (record.type === "stderr" ? [record.text] : []));
    const dropped = ended.end?.stderrDropped ?? 0;
    const mark = `\n… ${dropped} bytes left out\n`;
    expect(kept.join("").slice(MIB)).toMatch(new RegExp(`^${mark}e{99}\n[e\n]*Error: 529 overloaded\n$`));
    expect(kept.join("").length).toBe(2_000_022 - dropped + mark.length);
    expect(kept.join("").length).toBeLessThan(MIB + 66_000);
    expect(Math.max(...kept.map((text) => text.length))).toBeLessThanOrEqual(8192);
    expect(kept.slice(0, -1).every((text) => text.endsWith("\n"))).toBe(true);
    expect(ended.stderr.length).toBe(2_000_022);
  });

  test("the termination message keeps its limit whatever the final line holds", async () => {
    const script = `process.stdout.write("result" + "\\u0001".repeat(3000) + "\\n")`;
    const ended = await runPod({ argv: node(script), spec: { finalLine: { pattern: "^result", endAfterSec: null } } });
    expect(ended.rawMessage?.length).toBeLessThanOrEqual(4096);
    expect(ended.message).toMatchObject({ exitCode: 0, bytes: 3007 });
    expect(ended.message.finalLine).toContain(`result${"\u0001".repeat(200)}`);
  });
});
