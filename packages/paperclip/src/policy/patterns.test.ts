import fc from "fast-check";
import { expect, test } from "vitest";
import { allows, allowsBeginning, allowsBelow, allowsLabel, allowsPath } from "./patterns.ts";

test("a star stands for any characters, and nothing else is special", () => {
  expect(allows(["registry.example/*"], "registry.example/a/b:1")).toBe(true);
  expect(allows(["registry.example/*"], "registryXexample/a")).toBe(false);
  expect(allows(["a+b", "(c)"], "aab")).toBe(false);
  expect(allows([], "a")).toBe(false);
});

test("the last match decides, and ! takes out", () => {
  expect(allows(["*", "!node-role.kubernetes.io/*"], "node-role.kubernetes.io/control-plane")).toBe(false);
  expect(allows(["*", "!a*", "ab"], "ab")).toBe(true);
  expect(allows(["!*"], "a")).toBe(false);
});

test("a value that would keep a pattern busy is not allowed", () => {
  expect(allows(["*a*b*c*d*e"], "a".repeat(1_000_000))).toBe(false);
  expect(allows(["*"], "a".repeat(4097))).toBe(false);
  const long = `/${"a".repeat(4095)}`;
  expect(allows([`${"*a".repeat(20)}*b`], long)).toBe(false);
  expect(allowsPath([`/${"*a".repeat(20)}*b`], long)).toBe(false);
  expect(allowsPath([`/${"**a*a".repeat(10)}**b`], "/a".repeat(2048))).toBe(false);
});

test("in paths a star stays within one component", () => {
  expect(allowsPath(["/etc/kube/*"], "/etc/kube/a")).toBe(true);
  expect(allowsPath(["/etc/kube/*"], "/etc/kube/a/b")).toBe(false);
  expect(allowsPath(["/etc/**"], "/etc/kube/a/b")).toBe(true);
  expect(allowsBelow(["/srv/prompts", "!/srv/prompts/private"], "/srv/prompts/a/B.md")).toBe(true);
  expect(allowsBelow(["/srv/prompts", "!/srv/prompts/private"], "/srv/prompts/private/B.md")).toBe(false);
  expect(allowsBelow(["/srv/prompts"], "/srv/prompts-of-others/B.md")).toBe(false);
});

test("a label's pattern is about its key, or about key and value", () => {
  expect(allowsLabel(["zone", "disk=ssd"], "zone", "a")).toBe(true);
  expect(allowsLabel(["zone", "disk=ssd"], "disk", "hdd")).toBe(false);
  expect(allowsLabel(["*", "!zone=eu-*"], "zone", "eu-1")).toBe(false);
});

test("the beginning of names is allowed only if all such names are", () => {
  expect(allowsBeginning(["ACME_*"], "ACME_KEY")).toBe(true);
  expect(allowsBeginning(["ACME_KEY_*"], "ACME_")).toBe(false);
  expect(allowsBeginning(["ACME_*", "!ACME_ADMIN_*"], "ACME_")).toBe(false);
  expect(allowsBeginning(["ACME_*", "!ACME_ADMIN_*"], "ACME_ADMIN_X")).toBe(false);
  expect(allowsBeginning(["ACME_KEY"], "ACME_KEY")).toBe(false);
});

test("patterns match what the same regular expression does", () => {
  const text = (characters: string[]) => fc.array(fc.constantFrom(...characters), { maxLength: 12 }).map((parts) => parts.join(""));
  const same = (pattern: string, any: string, star: string): RegExp =>
    new RegExp(`^${pattern.replaceAll(".", "\\.").replace(/\*\*?/g, (stars) => (stars === "**" ? any : star))}$`, "s");
  fc.assert(
    fc.property(text(["a", "b", "/", ".", "*", "**"]), text(["a", "b", "/", ".", "\n"]), (pattern, value) => {
      expect(allows([pattern], value)).toBe(same(pattern, ".*", ".*").test(value));
      expect(allowsPath([pattern], value)).toBe(same(pattern, ".*", "[^/]*").test(value));
    }),
    { numRuns: 5000 },
  );
});
