// Every setting of the earlier adapters × every type of value that their agents may have stored.
import type { CommonValues } from "../schema.ts";

/** Settings that the earlier adapters did not have, so that no agent of theirs has a value that worked. */
export const NEW_SETTINGS = [
  "filesystemScope",
  "filesystemExtraPaths",
  "networkScope",
  "networkAllowlist",
  ...["command", "instructionsEntryFile", "dataPath", "dataClaim", "serverContainer", "inherit", "inheritNames", "runtimeClassName"],
  ...["maxRunSec", "scheduleTimeoutSec", "concurrency", "stateSaveIntervalSec", "stateRetentionDays", "stateMaxTasks", "showAllSettings"],
  ...["podTemplate", "logFormat", "tools"],
] as const;

/**
 * What becomes of a value:
 * - same: it means what it meant
 * - not set: it was the same as no value, and is
 * - in part: the same part of it counts as before, with a warning
 * - nearly: it was taken as it was; now something close to it, with a warning
 * - used now: it was ignored; now it means what it says, and the check before an upgrade tells so
 * - warned: it counts as not set, with a warning; it was ignored, or the run failed by it
 * - refused: no run starts; Kubernetes refused it before
 */
export type Effect = "same" | "not set" | "in part" | "nearly" | "used now" | "warned" | "refused";

function nestedIn(levels: number): unknown {
  let value: unknown = "x";
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
}

export const VALUES = {
  "empty text": "",
  "white space": " \n",
  null: null,
  "0": 0,
  false: false,
  true: true,
  "whole number": 90,
  "negative number": -5,
  fraction: 1.5,
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "huge number": 1e300,
  "number as text": "90",
  "true as text": "true",
  "false as text": "false",
  word: "some-word",
  words: "Some words!",
  "key=value lines": "a=b\nc=d",
  "a line without =": "a=b\nc",
  "list as text": "[1]",
  "object as text": '{"a":"b"}',
  "broken JSON": '{"a":',
  "an object that a form has shown": "[object Object]",
  "empty list": [],
  "list of texts": ["a", "b"],
  "list of several types": ["a", 5, null],
  "empty object": {},
  "object of texts": { a: "b" },
  "object of several types": { a: "b", c: 5, d: null },
  "deep object": nestedIn(100_000),
} as const;

type Column = keyof typeof VALUES;
export type Effects = Readonly<Record<Column, Effect>>;

const UNSET = { "empty text": "not set", "white space": "not set", null: "not set", "0": "not set", false: "not set" } as const;
const numbers = <V extends Effect>(effect: V) =>
  ({
    "whole number": effect,
    "negative number": effect,
    fraction: effect,
    NaN: effect,
    Infinity: effect,
    "huge number": effect,
  }) as const;
const simpleTexts = <V extends Effect>(effect: V) =>
  ({ "number as text": effect, "true as text": effect, "false as text": effect, word: effect }) as const;
const otherTexts = <V extends Effect>(effect: V) =>
  ({
    words: effect,
    "key=value lines": effect,
    "a line without =": effect,
    "list as text": effect,
    "object as text": effect,
    "broken JSON": effect,
    "an object that a form has shown": effect,
  }) as const;
const lists = <V extends Effect>(effect: V) =>
  ({ "empty list": effect, "list of texts": effect, "list of several types": effect }) as const;
const objects = <V extends Effect>(effect: V) =>
  ({ "empty object": effect, "object of texts": effect, "object of several types": effect, "deep object": effect }) as const;

/** Nothing but texts was read. */
const NO_TEXT = { ...UNSET, true: "warned", ...numbers("warned"), ...lists("warned"), ...objects("warned") } as const;
const TEXT: Effects = { ...NO_TEXT, ...simpleTexts("same"), ...otherTexts("same") };
const NAME: Effects = { ...NO_TEXT, ...simpleTexts("same"), ...otherTexts("refused") };
const PATH: Effects = { ...NO_TEXT, ...simpleTexts("refused"), ...otherTexts("refused") };
const FOLDER: Effects = { ...NO_TEXT, ...simpleTexts("warned"), ...otherTexts("warned") };
const WORD: Effects = PATH;
const ANY_WORD: Effects = FOLDER;
const NUMBER: Effects = {
  ...FOLDER,
  "whole number": "same",
  fraction: "nearly",
  "huge number": "nearly",
  "number as text": "used now",
};
const TOGGLE: Effects = {
  ...FOLDER,
  "0": "used now",
  false: "same",
  true: "same",
  "true as text": "used now",
  "false as text": "used now",
};
const CORES: Effects = { ...FOLDER, "whole number": "used now", fraction: "used now", "number as text": "same" };
const BYTES: Effects = FOLDER;
const ARGUMENTS: Effects = {
  ...FOLDER,
  ...simpleTexts("used now"),
  ...otherTexts("used now"),
  "list as text": "warned",
  ...lists("same"),
  "list of several types": "in part",
};
const ENVIRONMENT: Effects = {
  ...FOLDER,
  "empty object": "same",
  "object of texts": "same",
  "object of several types": "in part",
};
const MAP: Effects = {
  ...FOLDER,
  "key=value lines": "same",
  "a line without =": "in part",
  "object as text": "same",
  "empty object": "same",
  "object of texts": "same",
  // Numbers were left out.
  "object of several types": "nearly",
};
const TOLERATIONS: Effects = { ...FOLDER, "empty list": "same", "list of texts": "refused", "list of several types": "refused" };

interface Row {
  /** A value that it is meant for. */
  readonly own: unknown;
  readonly effects: Effects;
}
const row = (own: unknown, effects: Effects): Row => ({ own, effects });

/** The compiler asks for a row for each setting that is not new, and for an effect for each type. */
export const ROWS: { readonly [Name in Exclude<keyof CommonValues, (typeof NEW_SETTINGS)[number]>]: Row } = {
  model: row("acme/m-1", TEXT),
  effort: row("high", TEXT),
  dangerouslySkipPermissions: row(false, TOGGLE),
  extraArgs: row(["--a", "b c"], ARGUMENTS),
  env: row({ A: "b", "A-B": "c", "a.b": "d" }, ENVIRONMENT),
  cwd: row("/srv/acme", FOLDER),
  promptTemplate: row("Work on {{context.issueId}}", TEXT),
  bootstrapPromptTemplate: row("Hello", TEXT),
  instructionsFilePath: row("/srv/AGENTS.md", TEXT),
  instructionsRootPath: row("/srv", TEXT),
  instructionsBundleMode: row("external", TEXT),
  image: row("registry.example/agents:1", NAME),
  imagePullPolicy: row("Always", WORD),
  namespace: row("agents", NAME),
  kubeconfig: row("/etc/kubeconfig", PATH),
  serviceAccountName: row("runner", NAME),
  requestCpu: row("500m", CORES),
  requestMemory: row("1Gi", BYTES),
  limitCpu: row("2", CORES),
  limitMemory: row("4Gi", BYTES),
  nodeSelector: row("pool=agents", MAP),
  tolerations: row([{ key: "a", operator: "Exists" }], TOLERATIONS),
  labels: row({ team: "blue" }, MAP),
  timeoutSec: row(3600, NUMBER),
  graceSec: row(30, NUMBER),
  ttlSecondsAfterFinished: row(7200, NUMBER),
  reattachOrphanedJobs: row(false, TOGGLE),
  retainJobs: row(true, TOGGLE),
  agentDbMode: row("dedicated_pvc", ANY_WORD),
  agentDbStorageClass: row("fast", NAME),
  agentDbStorageCapacity: row("5Gi", BYTES),
};
