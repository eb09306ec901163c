import { expect, test } from "vitest";
import { summaryLines, type Totals } from "./summary.ts";

const good: Totals = { passed: 12, failed: [], skipped: 1, triedAgain: [], errors: 0, files: 3, seconds: 4 };

test("a good run: the counts on a line of their own, and what to run next with what it needs", () => {
  const lines = summaryLines(good, "unit");
  expect(lines[0]).toBe("Tests: 12 passed, 0 failed, 1 skipped");
  expect(lines.slice(2).map((line) => /npm run \S+/.exec(line)?.[0])).toEqual(["npm run test:kube", "npm run test:system"]);
  for (const line of lines.slice(2)) expect(line).toContain("kube:up");
});

test("a part of a layer leads nowhere", () => {
  expect(summaryLines(good, null)).toHaveLength(2);
});

test("a failure is named and nothing is said to be next", () => {
  const lines = summaryLines({ ...good, failed: ["a.test.ts > breaks"] }, "unit");
  expect(lines).toEqual(["Failed:", "  a.test.ts > breaks", "Tests: 12 passed, 1 failed, 1 skipped", "3 files in 4 s; none tried twice"]);
});

test("a second attempt is counted and named as a defect", () => {
  const lines = summaryLines({ ...good, triedAgain: ["b.test.ts > flickers"] }, "kube");
  expect(lines.slice(0, 2)).toEqual([expect.stringMatching(/^Defects/), "  b.test.ts > flickers"]);
  expect(lines[3]).toBe("3 files in 4 s; 1 tried twice");
});
