import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineSplitter } from "./lines.ts";
import { cuts } from "./testing/cuts.ts";

function split(parts: readonly Buffer[], maxLine?: number) {
  const splitter = new LineSplitter(maxLine === undefined ? {} : { maxLine });
  const lines = parts.flatMap((part) => splitter.push(part));
  return { lines, rest: splitter.rest() };
}

describe("LineSplitter", () => {
  it("gives whole lines with their newline and keeps the rest", () => {
    const { lines, rest } = split([Buffer.from("a\nb"), Buffer.from("c\r\n\n"), Buffer.from("d")]);
    expect(lines.map((line) => line.bytes.toString())).toEqual(["a\n", "bc\r\n", "\n"]);
    expect(rest?.bytes.toString()).toBe("d");
  });

  it("gives the same lines however the input is cut", () => {
    fc.assert(
      fc.property(cuts(), (parts) => {
        const { lines, rest } = split(parts);
        const whole = Buffer.concat(parts).toString("latin1");
        const got = [...lines, ...(rest ? [rest] : [])].map((line) => line.bytes.toString("latin1"));
        expect(got).toEqual(whole.split(/(?<=\n)/).filter((line) => line !== ""));
        expect(lines.every((line) => line.part === "whole")).toBe(true);
      }),
    );
  });

  it("hands an over-long line out in flagged pieces of bounded size, nothing lost", () => {
    fc.assert(
      fc.property(cuts(), fc.integer({ min: 1, max: 9 }), (parts, maxLine) => {
        const { lines, rest } = split(parts, maxLine);
        const all = [...lines, ...(rest ? [rest] : [])];
        expect(Buffer.concat(all.map((line) => line.bytes)).equals(Buffer.concat(parts))).toBe(true);
        for (const [index, line] of lines.entries()) {
          expect(line.bytes.length).toBeLessThanOrEqual(maxLine);
          expect(line.bytes.at(-1) === 0x0a).toBe(line.part !== "piece");
          expect(line.part === "last-piece").toBe(lines[index - 1]?.part === "piece" && line.part !== "piece");
        }
      }),
    );
  });

  it("keeps memory bounded under a line that never ends", () => {
    const splitter = new LineSplitter({ maxLine: 1024 * 1024 });
    const part = Buffer.alloc(64 * 1024, "x");
    let largest = 0;
    for (let i = 0; i < 100; i++) for (const line of splitter.push(part)) largest = Math.max(largest, line.bytes.length);
    expect(largest).toBe(1024 * 1024);
  });
});
