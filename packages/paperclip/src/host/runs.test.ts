import { describe, expect, test } from "vitest";
import { DETACHED_CODE, isDetached, isLost, listedRunOf, mayHaveLostResult, runOf } from "./runs.ts";

describe("a result that the host's database lost", () => {
  const error = 'Failed query: insert into "workspace_operations" ("id") values ($1)';
  const row = { status: "failed", errorCode: "adapter_failed", error, resultJson: null };

  test("is known from the run's own record, where no result stands", () => {
    expect(isLost(runOf("r", row)!)).toBe(true);
    // A CLI that failed with the same words.
    expect(isLost(runOf("r", { ...row, resultJson: { outcome: "exited" } })!)).toBe(false);
    expect(isLost(runOf("r", { ...row, errorCode: "timeout" })!)).toBe(false);
  });

  test("is not known from a list, which leaves all results out", () => {
    expect(isLost(listedRunOf("r", row)!)).toBe(false);
    expect(mayHaveLostResult(row)).toBe(true);
    expect(mayHaveLostResult({ ...row, error: `Exit code 1: ${error}` })).toBe(false);
    expect(mayHaveLostResult({ ...row, errorCode: null })).toBe(false);
  });
});

test("a run that a drain detached is lost too, one that ended by itself is neither", () => {
  const [detached, failed] = [DETACHED_CODE, "timeout"].map((errorCode) => runOf("r", { status: "failed", errorCode })!);
  expect([isDetached(detached!), isLost(detached!)]).toEqual([true, true]);
  expect([isDetached(failed!), isLost(failed!)]).toEqual([false, false]);
});

test("what has no status is no run", () => {
  expect(runOf("r", { error: "not found" })).toBeNull();
  expect(listedRunOf("r", null)).toBeNull();
});
