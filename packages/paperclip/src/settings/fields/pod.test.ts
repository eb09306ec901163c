import { expect, test } from "vitest";
import { find } from "../read.ts";
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
  expect(find(nodeSelector, [raw]) ?? null).toEqual(selector);
  expect(find(tolerations, [raw]) ?? null).toEqual(list);
});
