import { describe, expect, it } from "vitest";
import { runFiles } from "../request.ts";
import { checkedPart, checkedPath, checkedRoot, PathPartError } from "./paths.ts";
import { VolumeError } from "./volume-error.ts";

describe("paths", () => {
  it("puts meta and claim beside the output", () => {
    expect(runFiles("/v/a/r1.ndjson")).toEqual({ output: "/v/a/r1.ndjson", meta: "/v/a/r1.ndjson.meta", lock: "/v/a/r1.ndjson.claim" });
  });

  it.each(["", "..", "a/b", "a.b", "a b", "a\n", "é", undefined, null, 7])("refuses %j as part of a path and names the field", (value) => {
    expect(() => checkedPart("agentId", value)).toThrow(PathPartError);
    expect(() => checkedPart("agentId", value)).toThrow(/^agentId must/);
  });

  it("takes ids as they are", () => {
    expect(checkedPart("runId", "0b1C-9")).toBe("0b1C-9");
  });

  it.each(["/v", "/v/", "/w/a", "/v/../w/a", "/v2/a", "v/a", "/v/a/", "/v/a\0b", "/v/a/../../w"])("refuses %j below /v", (path) => {
    expect(() => checkedPath("/v", path)).toThrow(VolumeError);
  });

  it("takes what is below the root, normalised", () => {
    expect(checkedPath("/v", "/v//a/../b")).toBe("/v/b");
    expect(checkedPath("/", "/a")).toBe("/a");
    expect(checkedRoot("/v/x/../")).toBe("/v");
    expect(() => checkedRoot("v")).toThrow(VolumeError);
  });
});
