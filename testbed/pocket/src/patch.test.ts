import { expect, test } from "vitest";
import { jsonPatch, mergePatch } from "./patch.ts";

test("a merge patch removes by null, replaces lists whole, and leaves its target alone", () => {
  const target = { a: { b: 1, c: 2 }, list: [1, 2] };
  expect(mergePatch(target, { a: { b: null, d: 3 }, list: [3] })).toEqual({ a: { c: 2, d: 3 }, list: [3] });
  expect(target).toEqual({ a: { b: 1, c: 2 }, list: [1, 2] });
});

test.each([
  ["add", { op: "add", path: "/m/x", value: 1 }, { m: { x: 1 }, l: ["a", "b"] }],
  ["add to a list's end", { op: "add", path: "/l/-", value: "c" }, { m: {}, l: ["a", "b", "c"] }],
  ["insert", { op: "add", path: "/l/1", value: "c" }, { m: {}, l: ["a", "c", "b"] }],
  ["replace", { op: "replace", path: "/l/0", value: "z" }, { m: {}, l: ["z", "b"] }],
  ["remove", { op: "remove", path: "/l/0" }, { m: {}, l: ["b"] }],
  ["move", { op: "move", from: "/l/0", path: "/m/x" }, { m: { x: "a" }, l: ["b"] }],
  ["copy", { op: "copy", from: "/l/0", path: "/m/x" }, { m: { x: "a" }, l: ["a", "b"] }],
  ["escaped keys", { op: "add", path: "/m/a~1b~0c", value: 1 }, { m: { "a/b~c": 1 }, l: ["a", "b"] }],
])("JSON patch: %s", (_name, operation, expected) => {
  expect(jsonPatch({ m: {}, l: ["a", "b"] }, [operation])).toEqual(expected);
});

test.each([
  ["a test that fails", { op: "test", path: "/a", value: 2 }],
  ["remove of nothing", { op: "remove", path: "/b" }],
  ["replace of nothing", { op: "replace", path: "/b", value: 1 }],
  ["a parent that is missing", { op: "add", path: "/b/c", value: 1 }],
  ["an unknown operation", { op: "spread", path: "/a" }],
])("refused: %s", (_name, operation) => {
  expect(() => jsonPatch({ a: 1 }, [operation])).toThrow("the server rejected our request");
});
