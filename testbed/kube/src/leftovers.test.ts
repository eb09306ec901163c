import { expect, test } from "vitest";
import { difference } from "./leftovers.ts";

test("what came and what went is named with its kind", () => {
  const before = { mount: ["/proc", "/data"], link: ["lo"] };
  expect(difference(before, before)).toEqual([]);
  expect(difference({ process: ["1 a"] }, { process: ["2 b"] })).toEqual(["new process: 2 b"]);
  expect(difference(before, { mount: ["/proc"], link: ["lo", "k-1"] })).toEqual(["lost mount: /data", "new link: k-1"]);
});
