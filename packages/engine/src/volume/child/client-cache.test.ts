import { describe, expect, it } from "vitest";
import { NulGuard } from "./client-cache.ts";

const bytes = (text: string): Buffer => Buffer.from(text);

describe("NulGuard", () => {
  it("lets bytes without NULs through, and those before the first", () => {
    expect(new NulGuard().dataLength(bytes("abc"), 0, 0, 0)).toBe(3);
    expect(new NulGuard().dataLength(bytes("ab\0c"), 0, 0, 0)).toBe(2);
  });

  it("takes NULs for data that stay the same over two seconds of reads", () => {
    const guard = new NulGuard();
    const lengths = [0, 500, 1000, 1500, 1990, 2000].map((now) => guard.dataLength(bytes("\0\0x"), 7, 0, now));
    expect(lengths).toEqual([0, 0, 0, 0, 0, 3]);
    expect(guard.isHoldingBack).toBe(false);
  });

  it("needs several reads, however much time passes", () => {
    const guard = new NulGuard();
    expect([0, 10_000, 20_000, 30_000, 40_000].map((now) => guard.dataLength(bytes("\0"), 0, 0, now))).toEqual([0, 0, 0, 0, 1]);
  });

  it("begins again when anything in doubt changes", () => {
    const guard = new NulGuard();
    for (const now of [0, 500, 1000, 1500, 1900]) guard.dataLength(bytes("\0\0\0"), 0, 0, now);
    expect(guard.dataLength(bytes("\0\0z"), 0, 0, 2100)).toBe(0);
    expect(guard.dataLength(bytes("xy"), 0, 0, 2200)).toBe(2);
  });

  it("goes on waiting for the same bytes while more come after them", () => {
    const guard = new NulGuard();
    const grows = [0, 500, 1000, 1500, 2000].map((now, index) => guard.dataLength(bytes(`\0${"x".repeat(index)}`), 0, 0, now));
    expect(grows).toEqual([0, 0, 0, 0, 1]);
  });

  it("doubts nothing below what is proven", () => {
    expect(new NulGuard().dataLength(bytes("\0\0\0"), 10, 13, 0)).toBe(3);
    expect(new NulGuard().dataLength(bytes("\0\0\0"), 10, 12, 0)).toBe(2);
    expect(new NulGuard().dataLength(bytes("\0\0\0"), 10, 99, 0)).toBe(3);
  });
});
