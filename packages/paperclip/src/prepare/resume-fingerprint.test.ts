import type { JobView } from "@paperclip-k8s/engine";
import { expect, test } from "vitest";
import { ANNOTATION } from "../host/keys.ts";
import { exampleInputs } from "../testing/example-attempt.ts";
import { hostContext } from "../testing/host-context.ts";
import type { RunInputs } from "./attempt.ts";
import { fingerprintAnnotation, fingerprintOfJob, sessionAfterAdoption } from "./resume-fingerprint.ts";

const adopted = (annotations: Readonly<Record<string, string>>) => ({ job: { name: "job-1", annotations } as unknown as JobView });
const fingerprint = {
  podCwd: "/data/work",
  stateMode: "portable",
  stateKey: "0123456789ab",
  bundleKey: "k1",
  mcpIdentity: null,
  connectionsDigest: null,
};

test("a Job's fingerprint is read as it was noted; one that says nothing, or nonsense, has none", () => {
  for (const noted of [fingerprint, { ...fingerprint, connectionsDigest: "d1" }])
    expect(fingerprintOfJob(adopted(fingerprintAnnotation(noted)))).toEqual(noted);
  for (const text of ["", "null", "[]", "{", '{"podCwd":1}'])
    expect(fingerprintOfJob(adopted({ [ANNOTATION.fingerprint]: text }))).toBeNull();
  expect(fingerprintOfJob(adopted({}))).toBeNull();
});

test("after an adopted Job its session is resumed only where it fits", () => {
  const { ctx } = hostContext({ session: { sessionId: "ses_0" } });
  const inputs = (key: string) =>
    exampleInputs({ ctx, bundle: { key } as RunInputs["bundle"], state: { mode: "portable" } as RunInputs["state"] });
  expect(sessionAfterAdoption(adopted(fingerprintAnnotation(fingerprint)), inputs("k1"), "ses_1")).toEqual({
    sessionId: "ses_1",
    note: null,
  });
  expect(sessionAfterAdoption(adopted(fingerprintAnnotation(fingerprint)), inputs("k2"), "ses_1")).toEqual({
    sessionId: null,
    note: expect.stringContaining("other instructions or skills"),
  });
  const connected = { ...fingerprint, connectionsDigest: "d1" };
  expect(sessionAfterAdoption(adopted(fingerprintAnnotation(connected)), inputs("k1"), "ses_1")).toEqual({
    sessionId: null,
    note: expect.stringContaining("other instructions for connections"),
  });
  expect(sessionAfterAdoption(adopted({}), inputs("k1"), "ses_1")).toEqual({
    sessionId: null,
    note: expect.stringContaining("does not say"),
  });
  expect(sessionAfterAdoption(adopted({}), inputs("k1"), "ses_0")).toEqual({ sessionId: "ses_0", note: null });
  expect(sessionAfterAdoption(adopted({}), inputs("k1"), null)).toEqual({ sessionId: null, note: null });
});
