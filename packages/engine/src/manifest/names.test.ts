import fc from "fast-check";
import { expect, test } from "vitest";
import { isLabelKey, jobName, labelValue, secretName } from "./names.ts";

const DNS_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

test("any ids give a valid DNS label, the same each time", () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { maxLength: 2 }), fc.string(), (parts, identity) => {
      const name = jobName({ prefix: "agent-opencode-", parts, identity });
      expect(name).toMatch(DNS_LABEL);
      expect(secretName(name, "0123456789abcdef")).toMatch(/^[a-z0-9-]{1,253}$/);
      expect(jobName({ prefix: "agent-opencode-", parts, identity })).toBe(name);
    }),
  );
});

test("names of ids that are cut alike differ by their hash", () => {
  const parts = ["aaaaaaaaaaaaaaaaaaaa-1"];
  const one = jobName({ prefix: "agent-", parts, identity: "one" });
  const two = jobName({ prefix: "agent-", parts, identity: "two" });
  expect(one).toMatch(/^agent-a{16}-[0-9a-f]{8}$/);
  expect(one).not.toBe(two);
});

test("label values are made valid, keep their case and say when something was dropped", () => {
  expect(labelValue("Run-1_a.B")).toEqual({ value: "Run-1_a.B", changed: false });
  expect(labelValue("-bad value-")).toEqual({ value: "bad-value", changed: true });
  expect(labelValue("///")).toEqual({ value: "", changed: true });
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (text) => {
      expect(labelValue(text).value).toMatch(/^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/);
    }),
  );
});

test("label keys", () => {
  for (const key of ["app", "example.io/run-id", "a.b/C_d.e"]) expect(isLabelKey(key)).toBe(true);
  for (const key of ["", "/a", "a/", "a/b/c", "-a", "UPPER.io/x", "x/y z"]) expect(isLabelKey(key)).toBe(false);
});
