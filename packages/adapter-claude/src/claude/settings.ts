import { type Field, named } from "@paperclip-k8s/paperclip";
import { toggle, wholeNumber } from "@paperclip-k8s/paperclip/settings";

/** By the names that the code has for them. */
export type OwnSettings = {
  readonly maxTurnsPerRun: Field<number>;
  readonly enableRtk: Field<boolean>;
  readonly rtkMaxOutputBytes: Field<number>;
};

/** Settings that only Claude Code has. */
export const ownSettings: OwnSettings = named({
  maxTurnsPerRun: wholeNumber({
    label: "Turns per run",
    first: true,
    default: 0,
    formDefault: 1000,
    max: 1_000_000,
    defaultText: "0 = no limit (a new agent's form: 1000)",
    doc: "most turns the CLI may take in one run",
  }),
  enableRtk: toggle({
    label: "Shorten tool output",
    default: false,
    doc: "shorten long tool output before it reaches the model: head and tail are kept, with a note of what was cut",
  }),
  rtkMaxOutputBytes: wholeNumber({
    label: "Tool output limit (bytes)",
    default: 50_000,
    max: 100_000_000,
    doc: "how much of a tool's output the model sees with `enableRtk`",
  }),
});

/** What common settings mean to Claude Code. */
export const docs = {
  instructionsFilePath:
    "file on the server with the agent's instructions, put into the system prompt; Paperclip sets it. In another place than Paperclip's folders for the agent and its company: refused, unless the policy allows it. Unreadable: a warning in the log, the run goes on",
} as const;
