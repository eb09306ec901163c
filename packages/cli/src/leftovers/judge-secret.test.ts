import { expect, test } from "vitest";
import { jobView, podView, running, terminated } from "../cluster/example-run.ts";
import { judgeSecret } from "./judge-secret.ts";

const span = { olderThanSec: 3600, now: Date.parse("2026-01-01T03:00:00Z") };
const secret = { name: "s", uid: "su", createdAt: "2026-01-01T00:00:00Z", deletedAt: null, ownerUids: ["job-uid"] };

test("its Job is gone, and nobody can use it", () => {
  expect(judgeSecret(secret, [], [], span)).toEqual({ state: "over", why: "its Job is gone" });
  expect(judgeSecret({ ...secret, ownerUids: [] }, [jobView()], [podView(running)], span)?.state).toBe("over");
  expect(judgeSecret(secret, [], [podView(terminated(0), { phase: "Succeeded" })], span)?.state).toBe("over");
});

test("a pod that outlived its Job may use it: left alone", () => {
  expect(judgeSecret(secret, [], [podView(running)], span)).toEqual({
    state: "unproved",
    why: expect.stringContaining("pod otto-pod may"),
  });
});

test("its Job is there, it goes already, or it is young: nothing is said of it", () => {
  expect(judgeSecret(secret, [jobView()], [], span)).toBeNull();
  expect(judgeSecret({ ...secret, deletedAt: "2026-01-01T02:00:00Z" }, [], [], span)).toBeNull();
  expect(judgeSecret({ ...secret, createdAt: "2026-01-01T02:30:00Z" }, [], [], span)).toBeNull();
  expect(judgeSecret({ ...secret, createdAt: null }, [], [], span)).toBeNull();
});
