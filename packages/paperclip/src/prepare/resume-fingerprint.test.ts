import type { JobView } from "@paperclip-k8s/engine";
import { expect, test } from "vitest";
import { ANNOTATION } from "../host/keys.ts";
import type { Turn } from "./attempt.ts";
import { groundOfJob, resumableBehind, resumeFingerprint } from "./resume-fingerprint.ts";

const adopted = (annotations: Readonly<Record<string, string>>) => ({ job: { name: "job-1", annotations } as unknown as JobView });
const ground = { podCwd: "/data/work", stateMode: "portable", bundleKey: "k1", mcpIdentity: null };

test("a Job's ground is read as it was noted; one that says nothing, or nonsense, has none", () => {
  expect(groundOfJob(adopted(resumeFingerprint(ground)))).toEqual(ground);
  for (const text of ["", "null", "[]", "{", '{"podCwd":1}']) expect(groundOfJob(adopted({ [ANNOTATION.ground]: text }))).toBeNull();
  expect(groundOfJob(adopted({}))).toBeNull();
});

test("behind an adopted Job its session is gone on with only where it fits", () => {
  const turn = (bundle: string) =>
    ({
      cli: {},
      ctx: { context: {}, runtime: { sessionId: "ses_0", sessionParams: { sessionId: "ses_0" }, sessionDisplayId: null, taskKey: null } },
      config: { cwd: null },
      cwd: "/data/work",
      bundle: { key: bundle },
      state: { mode: "portable" },
    }) as unknown as Turn;
  expect(resumableBehind(adopted(resumeFingerprint(ground)), turn("k1"), "ses_1")).toEqual({ sessionId: "ses_1", note: null });
  expect(resumableBehind(adopted(resumeFingerprint(ground)), turn("k2"), "ses_1")).toEqual({
    sessionId: null,
    note: expect.stringContaining("other instructions or skills"),
  });
  expect(resumableBehind(adopted({}), turn("k1"), "ses_1")).toEqual({ sessionId: null, note: expect.stringContaining("does not say") });
  expect(resumableBehind(adopted({}), turn("k1"), "ses_0")).toEqual({ sessionId: "ses_0", note: null });
  expect(resumableBehind(adopted({}), turn("k1"), null)).toEqual({ sessionId: null, note: null });
});
