import { expect, test } from "vitest";
import { read } from "../field.ts";
import { podFields } from "./pod.ts";

const { nodeSelector, tolerations } = podFields;

test.each([
  ["unset, so the server pod's", {}, null, null],
  ["left empty in the form, so the server pod's", { nodeSelector: "", tolerations: " " }, null, null],
  ["none, as a word", { nodeSelector: "none", tolerations: " None\n" }, {}, []],
  ["none, as text of JSON", { nodeSelector: "{}", tolerations: "[]" }, {}, []],
  ["none, as values", { nodeSelector: {}, tolerations: [] }, {}, []],
  ["a label that is called so", { nodeSelector: "none=1", tolerations: [{ key: "none" }] }, { none: "1" }, [{ key: "none" }]],
])("node selector and tolerations: %s", (_, raw, selector, list) => {
  expect(read(nodeSelector, raw)).toEqual(selector);
  expect(read(tolerations, raw)).toEqual(list);
});
