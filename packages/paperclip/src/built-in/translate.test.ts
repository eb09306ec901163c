import fc from "fast-check";
import { expect, test } from "vitest";
import type { SettingFacts } from "../agent-cli/built-in-type.ts";
import { DEFAULT_POLICY } from "../policy/policy.ts";
import { commonFields } from "../settings/schema.ts";
import { commonSettings, leftOut } from "./common-settings.ts";
import { translateSettings } from "./translate.ts";

const facts = (raw: Record<string, unknown>): SettingFacts => ({
  raw,
  serverEnv: {},
  policy: DEFAULT_POLICY,
  dataPath: "/paperclip",
  hasDefaultModel: true,
});
const translated = (raw: Record<string, unknown>) => {
  const { raw: left, notes } = translateSettings({ settings: [leftOut("chrome", "there is none", [false])] }, facts(raw));
  return { left, notes: notes.map(({ message }) => message) };
};

test("what is kept is a setting of ours by the same name", () => {
  const ours = new Set(Object.values(commonFields).flatMap(({ key, aliases }) => [key, ...aliases]));
  const kept = commonSettings.filter(({ becomes }) => becomes === "kept" || becomes === "kept or refused");
  expect(kept.map(({ key }) => key).filter((key) => !ours.has(key))).toEqual([]);
});

test("nothing set: nothing to say", () => expect(translated({})).toEqual({ left: {}, notes: [] }));

test.each([
  [{ model: "m", timeoutSec: 5, image: "agents:1" }, { model: "m", timeoutSec: 5, image: "agents:1" }, null],
  [{ chrome: false }, {}, null],
  [{ chrome: true }, {}, "chrome: true is left out: there is none"],
  [{ cwd: "/paperclip/work" }, { cwd: "/paperclip/work" }, null],
  [{ cwd: "/home/me/work" }, {}, 'cwd: "/home/me/work" is left out: it is not on the shared volume (/paperclip), so no pod has it'],
  [{ command: "cli" }, { command: "cli" }, null],
  [{ command: "/opt/bin/cli" }, { command: "cli" }, 'command: "/opt/bin/cli" is a path on the server: the pod starts cli of its image'],
  [{ command: "/opt/bin/cli", image: "agents:1" }, { command: "/opt/bin/cli", image: "agents:1" }, null],
  [{ command: "/paperclip/bin/cli" }, { command: "/paperclip/bin/cli" }, null],
  [{ filesystemSandboxCommand: "bwrap2" }, {}, 'filesystemSandboxCommand: "bwrap2" is left out: the pod is the sandbox'],
  [{ networkScope: "deny", filesystemScope: "workspace" }, { networkScope: "deny", filesystemScope: "workspace" }, null],
  [{ networkScope: "allowlist", networkAllowlist: ["a.b"] }, { networkScope: "allowlist", networkAllowlist: ["a.b"] }, null],
  [
    { networkScope: "deny", networkAllowlist: ["a.b"] },
    { networkScope: "deny" },
    'networkAllowlist: left out: it restricts nothing unless networkScope is "allowlist"',
  ],
  [{ extraArgs: [], args: ["--a"] }, { args: ["--a"] }, null],
])("%j", (raw, left, note) => expect(translated(raw)).toEqual({ left, notes: note === null ? [] : [note] }));

test("an agent's own settings, whatever they are, are translated without an exception", () => {
  const keys = commonSettings.map(({ key }) => key);
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...keys), fc.jsonValue()), (raw) => {
      expect(Object.keys(translated(raw).left).every((key) => keys.includes(key))).toBe(true);
    }),
  );
});
