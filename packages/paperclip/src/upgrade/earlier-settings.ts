import { isRecord } from "../host/context-values.ts";
import { isFixed } from "../prepare/environment/fact-overrides.ts";
import type { EarlierSetting } from "../settings/earlier-setting.ts";
import { isUnset } from "../settings/field.ts";

const isNotSet = (value: unknown): boolean => isUnset(value, "text");

/** What every earlier adapter did differently. */
export const EARLIER_SETTINGS: readonly EarlierSetting[] = [
  {
    setting: "ttlSecondsAfterFinished",
    kind: "changed",
    when: (value) => value === 300,
    text: "300 was the default that the earlier form saved; now an ended Job that no server settled is gone after it, with its result",
    todo: "clear it: the default is a day",
  },
  {
    setting: "inherit",
    kind: "changed",
    when: isNotSet,
    text: "agents had the whole environment of the server's pod; now they have provider keys, proxies, certificates, git and locale",
    todo: "list what else the agent needs in inheritNames, and allow it in the policy",
  },
  {
    setting: "concurrency",
    kind: "changed",
    when: isNotSet,
    text: "an agent had one run at a time; now it has one per task, and its tasks run in parallel",
    todo: "set it to agent for the old behaviour",
  },
  ...["nodeSelector", "tolerations"].map(
    (setting): EarlierSetting => ({
      setting,
      kind: "changed",
      when: isNotSet,
      text: "pods had none; now they have those of the server's pod",
      todo: "set it to none to have none",
    }),
  ),
  {
    setting: "command",
    kind: "changed",
    text: "it was ignored; now this program is started instead of the CLI",
    todo: "clear it, unless the image has this program",
  },
  {
    setting: "args",
    kind: "changed",
    when: (value, raw) => Array.isArray(value) && value.length > 0 && isEmptyList(raw.extraArgs),
    text: "they were ignored; now they are given to the CLI",
    todo: "clear them, unless the CLI should have them",
  },
  {
    setting: "env",
    kind: "changed",
    when: (value) => isRecord(value) && Object.keys(value).some(isFixed),
    text: "it replaced what says who the run is, its task or why it was started; now the run's own values count",
    todo: "remove these PAPERCLIP_ variables",
  },
];

const isEmptyList = (value: unknown): boolean => isNotSet(value) || (Array.isArray(value) && value.length === 0);
