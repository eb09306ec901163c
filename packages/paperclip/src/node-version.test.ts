import { expect, test } from "vitest";
import { requireNode } from "./node-version.ts";

test("a Node that is too old is refused with the one that is needed; this one will do", () => {
  expect(() => requireNode("the adapter claude_k8s", "20.20.2")).toThrow(
    "the adapter claude_k8s needs Node 24 or newer, and this is Node 20.20.2: run it on Node 24",
  );
  for (const version of ["24.0.0", "26.1.0", process.versions.node]) expect(() => requireNode("x", version)).not.toThrow();
});
