import fc from "fast-check";
import { expect, test } from "vitest";
import { openSigned } from "./mac.ts";
import type { TerminationMessage } from "./records.ts";
import { fitTerminationMessage } from "./termination-message.ts";

const message: TerminationMessage = {
  ...{ format: 1, run: "0b6a3a3e-3a52-4b83-9c39-3d0e1f4f9f0a", nonce: "n".repeat(32), exitCode: 1, signal: null, cause: "exit" },
  ...{
    bytes: 9e15,
    written: 9e15,
    lines: 9e15,
    oomKills: 9e15,
    peakMemoryBytes: 9e15,
    memoryLimitBytes: 9e15,
    error: null,
    finalLine: null,
  },
};

test.each([
  ["unsigned", null],
  ["signed", Buffer.alloc(32, 1)],
])("%s, it never has more than 4,096 bytes, and is always JSON", (_, key) => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("\u0001".repeat(5000), "🙂".repeat(2000), "a".repeat(9000), "\ud800".repeat(3000)),
  );
  fc.assert(
    fc.property(fc.option(text), fc.option(text), (finalLine, error) => {
      const fitted = fitTerminationMessage({ ...message, finalLine, error }, key);
      expect(Buffer.byteLength(fitted)).toBeLessThanOrEqual(4096);
      expect(JSON.parse(fitted)).toMatchObject({ run: message.run, exitCode: 1, bytes: 9e15 });
      if (key !== null) expect(openSigned(Buffer.from(fitted), key)).not.toBeNull();
    }),
  );
});

test("a final line is cut at 2,048 bytes between characters", () => {
  const { finalLine } = JSON.parse(fitTerminationMessage({ ...message, finalLine: `a${"🙂".repeat(1000)}` }, null)) as TerminationMessage;
  expect(finalLine).toBe(`a${"🙂".repeat(511)}`);
});
