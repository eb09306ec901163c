import { describe } from "vitest";
import { parseConfig } from "../../../paperclip/src/settings/parse.ts";
import { type Case, numberCase, testSetting, toggleCase } from "../../../paperclip/src/settings/testing/example-cases.ts";
import { claude } from "../agent-cli.ts";
import { type OwnSettings, ownSettings } from "./settings.ts";

const cases: { readonly [Name in keyof OwnSettings]: Case } = {
  maxTurnsPerRun: numberCase((c) => c.own.maxTurnsPerRun, 0, 1_000_000),
  enableRtk: toggleCase((c) => c.own.enableRtk, false),
  rtkMaxOutputBytes: numberCase((c) => c.own.rtkMaxOutputBytes, 50_000, 100_000_000),
};

describe.each(Object.entries(cases))("%s", (name, found) => {
  testSetting(ownSettings[name as keyof OwnSettings], found, (raw) => parseConfig(raw, {}, claude));
});
