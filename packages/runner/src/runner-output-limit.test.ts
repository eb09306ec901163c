import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { cleanUp, node, preparePod, shell } from "./testing/runner-fixture.ts";

afterAll(cleanUp);

/** Writes 16 MB as fast as it can: without a limit it would end by itself. */
const talkative = `let lines = 1e6; const more = () => { while (lines-- > 0) if (!process.stdout.write("0123456789abcde\\n")) return process.stdout.once("drain", more); }; more();`;

async function runWith(argv: [string, ...string[]], outputBytes: number, spec: object = {}) {
  const pod = preparePod({ argv, spec: { outputBytes, ...spec } });
  const ended = await pod.start().ended;
  return { ...ended, kept: readFileSync(pod.spec.files.output, "utf8") };
}

describe.concurrent("a CLI that writes more than its output may have", () => {
  test("is ended, and exactly the limit is kept", async () => {
    const ended = await runWith(node(talkative), 100_003);
    expect(ended.end).toMatchObject({ cause: "output-limit", signal: "SIGTERM", bytes: 100_003, written: 100_003, lines: 6250 });
    expect(ended.end?.error).toBe("it wrote more than 100003 bytes of output; the rest was not kept");
    expect(ended.meta).toContainEqual(
      expect.objectContaining({ type: "note", text: expect.stringMatching(/^\d+ bytes of output beyond/) }),
    );
    expect(ended.kept).toBe("0123456789abcde\n".repeat(6251).slice(0, 100_003));
    expect(ended.message).toMatchObject({ cause: "output-limit", written: 100_003 });
    // The copy for the container's log ends there too.
    expect(ended.stdout.toString()).toBe(ended.kept);
  });

  test("and ignores SIGTERM is killed after the grace", async () => {
    const ended = await runWith(node(`process.on("SIGTERM", () => {}); ${talkative} setTimeout(() => {}, 20_000);`), 5000, {
      graceSec: 0.3,
    });
    expect(ended.end).toMatchObject({ cause: "output-limit", signal: "SIGKILL", written: 5000 });
  });

  test("in one piece, and is over before it can be ended: its success does not count", async () => {
    const ended = await runWith(shell("printf 123456"), 5);
    expect(ended.end).toMatchObject({ cause: "output-limit", exitCode: 0, bytes: 5, written: 5 });
    expect(ended.kept).toBe("12345");
  });

  test("after its final line: what was said before the limit counts as said", async () => {
    const ended = await runWith(shell("echo result-1; echo more"), 9, { finalLine: { pattern: "^result-", endAfterSec: null } });
    expect(ended.message).toMatchObject({ cause: "output-limit", finalLine: "result-1", written: 9 });
  });
});

test("as much as the limit is not too much", async () => {
  const ended = await runWith(shell("printf 12345"), 5);
  expect(ended.end).toMatchObject({ cause: "exit", exitCode: 0, bytes: 5, written: 5, error: null });
});

test("a limit that is no number is refused before the CLI is started", async () => {
  const { message } = await runWith(shell("echo ran"), "5" as unknown as number);
  expect(message).toMatchObject({ cause: "spawn-failed", error: "the spec's outputBytes is not a number of bytes" });
});
