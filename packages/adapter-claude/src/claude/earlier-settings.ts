import type { EarlierSetting } from "@paperclip-k8s/paperclip";

const nowActs = (setting: string): EarlierSetting => ({
  setting,
  kind: "changed",
  when: (value, raw) => typeof value === "string" && value.trim() !== "" && !raw.effort,
  text: "it was ignored; now it is the CLI's effort",
  todo: "clear it, unless it is meant",
});

/** What the earlier adapter of Claude Code did differently. */
export const earlier: readonly EarlierSetting[] = [
  nowActs("thinkingEffort"),
  nowActs("variant"),
  {
    setting: "resources",
    kind: "changed",
    when: (value) => typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0,
    text: "only the form's values counted; now a nested object counts too",
    todo: "check it",
  },
];
