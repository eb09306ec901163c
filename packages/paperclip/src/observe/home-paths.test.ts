import { expect, test } from "vitest";
import { withoutUserNames } from "./home-paths.ts";

test.each([
  ["cannot read /home/alice/.kube/config", "cannot read /home/a****/.kube/config"],
  ['"/Users/bob/x" and /home/carol', '"/Users/b**/x" and /home/c****'],
  // A folder of that name further down.
  ["/agent/home/.claude/settings.json", "/agent/home/.claude/settings.json"],
  ["/srv/paperclip/home/instances/default", "/srv/paperclip/home/instances/default"],
])("%s", (text, expected) => {
  expect(withoutUserNames(text)).toBe(expected);
});
