import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LineScan } from "./line-scan.ts";

function scanCut(text: Buffer, cuts: number[], pattern: RegExp | null): LineScan {
  const scan = new LineScan(pattern);
  let from = 0;
  for (const cut of [...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length]) {
    scan.feed(text.subarray(from, cut));
    from = Math.max(from, cut);
  }
  scan.end();
  return scan;
}

describe("LineScan", () => {
  test("counts and matches the same however the bytes are cut", () => {
    const line = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("result é🙂", "no", ""));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), (lines, cuts) => {
        const bytes = Buffer.from(lines.join("\n"));
        const text = bytes.toString().split("\n");
        const scan = scanCut(bytes, cuts, /^result/);
        expect(scan.bytes).toBe(bytes.length);
        expect(scan.lines).toBe(text.length - 1);
        expect(scan.finalLine).toBe(text.findLast((part) => part.startsWith("result")) ?? null);
      }),
    );
  });

  test("without a pattern it only counts", () => {
    expect(scanCut(Buffer.from("a\nb"), [1], null)).toMatchObject({ bytes: 3, lines: 1, finalLine: null });
  });

  test("a line of up to 1 MiB is matched whole, a longer one by its first 64 KiB", () => {
    const whole = Buffer.from(`${"x".repeat(1024 * 1024 - 4)}tail\n`);
    expect(scanCut(whole, [5, 70_000], /tail$/).finalLine).not.toBeNull();
    const longer = Buffer.from(`head${"x".repeat(1024 * 1024)}tail\nno\n`);
    expect(scanCut(longer, [5, 70_000], /tail$/).finalLine).toBeNull();
    expect(scanCut(longer, [5, 70_000], /^head/).finalLine?.length).toBe(2048);
    expect(scanCut(longer, [], /^headx{65532}$/).finalLine).not.toBeNull();
    expect(scanCut(longer, [9], /^headx{65532}$/).finalLine).not.toBeNull();
  });

  test("reports each final line", () => {
    let count = 0;
    const seen = () => {
      count += 1;
    };
    const scan = new LineScan(/^r/, { seen });
    scan.feed(Buffer.from("r1\nx\nr2"));
    expect(count).toBe(1);
    scan.end();
    expect(count).toBe(2);
  });
});
