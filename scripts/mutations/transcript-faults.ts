import type { Fault } from "./faults.ts";

const transcript = (path: string): string => `packages/paperclip/src/observe/transcript/${path}`;

/** What a reader of the run's page would take for something else, or not see. */
export const TRANSCRIPT_FAULTS: readonly Fault[] = [
  {
    what: "in a log of raw lines an agent's line can be taken for one of the adapter's",
    file: "packages/paperclip/src/observe/raw-lines.ts",
    find: 'cleanText(line).split("\\n").map(asForeign)',
    replace: 'cleanText(line).split("\\n")',
    caughtBy: ["packages/paperclip/src/observe/output.test.ts"],
  },
  {
    what: "in a log of raw lines an event turns the direction of the text behind it",
    file: "packages/paperclip/src/observe/raw-lines.ts",
    find: "[line.replace(HARMFUL, escaped)]",
    replace: "[line]",
    caughtBy: ["packages/paperclip/src/observe/output.test.ts"],
  },
  {
    what: "the user's name is in the errors that the log shows",
    file: "packages/paperclip/src/observe/home-paths.ts",
    find: "(path) => redactHomePathUserSegments(path));",
    replace: "(path) => path);",
    caughtBy: ["packages/paperclip/src/observe/log.test.ts"],
  },
  {
    what: "the result of one of two calls that run at once is taken for the other's",
    file: transcript("open-calls.ts"),
    find: "return id === last ? null : name;",
    replace: "return null;",
    caughtBy: [transcript("to-lines.test.ts"), transcript("tool-calls.test.ts")],
  },
  {
    what: "of a long output the end is left out, where a build reports its error",
    file: transcript("shorten.ts"),
    find: "...lines.slice(lines.length - last)",
    replace: "",
    caughtBy: [transcript("to-lines.test.ts")],
  },
  {
    what: "what the earlier steps of a turn used is not in its last line",
    file: transcript("to-lines.ts"),
    find: "this.#steps = goesOn ? used :",
    replace: "this.#steps = used === null ? used :",
    caughtBy: [transcript("to-lines.test.ts")],
  },
  {
    what: "a stack trace at the end of the output is never mentioned",
    file: "packages/paperclip/src/observe/output.ts",
    find: "[...shown, ...this.#transcript.end()]",
    replace: "shown",
    caughtBy: ["packages/paperclip/src/observe/output.test.ts"],
  },
  {
    what: "lines about silence stand below a reason that is already shown",
    file: "packages/engine/src/status/keepalive.ts",
    find: "problem === null ? pause : keepaliveMost",
    replace: "problem === undefined ? keepaliveMost : pause",
    caughtBy: ["packages/engine/src/status/log-status.test.ts"],
  },
  {
    what: "a run that failed does not say why where the page folds nothing away",
    file: "packages/paperclip/src/execute.ts",
    find: "errors.some((error) => errorMessage.includes(withoutUserNames(cleanText(error))))",
    replace: "errors.length > 0",
    caughtBy: ["testbed/suite/src/recorded.test.ts"],
  },
];
