import { expect, test } from "vitest";
import { mountPointOf } from "./mount-point.ts";

const mounts =
  "overlay / overlay rw 0 0\nnfs:/a /paperclip nfs4 rw 0 0\nnfs:/b /paperclip/own\\040files nfs4 rw 0 0\nproc /proc proc rw 0 0\n";

test.each([
  ["/paperclip", "/paperclip"],
  ["/paperclip/instances/../AGENTS.md", "/paperclip"],
  ["/paperclip2/AGENTS.md", "/"],
  ["/paperclip/own files/AGENTS.md", "/paperclip/own files"],
  ["/app/skills", "/"],
])("%s is on the mount %s", (path, point) => {
  expect(mountPointOf(path, () => mounts)).toBe(point);
});

test("without a list of mounts everything is on the root", () => {
  expect(mountPointOf("/paperclip", () => "")).toBe("/");
});
