import { inPlaceSettings } from "@paperclip-k8s/paperclip/testing/in-place-settings";
import { expect, test } from "vitest";
import { opencode } from "../agent-cli.ts";

const read = inPlaceSettings(opencode);

test.each([
  [{ variant: "high" }, "high"],
  [{ variant: "high", effort: "low" }, "high"],
  [{ effort: "low" }, "low"],
])("the variant of %j is %s, as at the host's own adapter", async (raw, effort) => {
  expect((await read({ model: "openai/m", ...raw })).config.effort).toBe(effort);
});
