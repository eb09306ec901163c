import { afterAll, describe, expect, test } from "vitest";
import { cleanUp, node, runPod, shell } from "./testing/runner-fixture.ts";

afterAll(cleanUp);

const hostile = "$(X) $$ $Y `id` \\ \\\\ \\n \" ' 🙂 é \r\n\t%s !! * ~ \u2028";

function prompt(bytes: number): Buffer {
  const odd = Buffer.from(Array.from({ length: 255 }, (_, i) => i + 1));
  const unit = Buffer.concat([Buffer.from(hostile), odd]);
  return Buffer.concat(Array.from({ length: Math.ceil(bytes / unit.length) }, () => unit)).subarray(0, bytes);
}

describe.concurrent("stdin", () => {
  test("900 KiB of hostile text arrive byte for byte", async () => {
    const stdin = prompt(900 * 1024);
    const ended = await runPod({ argv: ["/bin/cat"], stdin });
    expect(ended.code).toBe(0);
    expect(ended.stdout.equals(stdin)).toBe(true);
    expect(ended.end?.bytes).toBe(stdin.length);
  });

  test("arguments arrive as they are", async () => {
    const ended = await runPod({ argv: node("process.stdout.write(JSON.stringify(process.argv.slice(1)))", "--", hostile, "") });
    expect(JSON.parse(ended.stdout.toString())).toEqual([hostile, ""]);
  });

  test("an argument may stand for a file beside the spec", async () => {
    const ended = await runPod({ argv: ["/bin/cat", { file: "spec.json" }] });
    expect(JSON.parse(ended.stdout.toString())).toMatchObject({ argv: ["/bin/cat", { file: "spec.json" }] });
  });

  test("a CLI that reads none of it is not held up", async () => {
    const ended = await runPod({ argv: shell("echo done; exit 3"), stdin: prompt(900 * 1024) });
    expect(ended.code).toBe(3);
  });

  test("a CLI that closes it half-way is not held up", async () => {
    const ended = await runPod({ argv: shell("head -c 10 >/dev/null; exec 0<&-; sleep 0.2; exit 4"), stdin: prompt(900 * 1024) });
    expect(ended.code).toBe(4);
  });

  test("none at all reads as the end", async () => {
    const ended = await runPod({ argv: shell("cat; echo over") });
    expect(ended.stdout.toString()).toBe("over\n");
  });

  test("no prompt is in any record", async () => {
    const ended = await runPod({ argv: ["no-such-program"], stdin: Buffer.from("hush-hush") });
    expect(JSON.stringify(ended.meta) + ended.rawMessage?.toString() + ended.stderr).not.toContain("hush");
  });
});
