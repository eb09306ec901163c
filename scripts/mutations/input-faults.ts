import type { Fault } from "./faults.ts";

const engine = (path: string): string => `packages/engine/src/${path}`;
const suite = (name: string): string => `testbed/suite/src/${name}.test.ts`;

/** What agents could do by what they write: sessions, output, terminal codes, names. */
export const INPUT_FAULTS: readonly Fault[] = [
  {
    what: "a saved session that another agent made is restored",
    file: "packages/runner/src/state/manifest.ts",
    find: "if (key !== undefined && signed && !isSame(mac, macOf(line, key)))",
    replace: "if (signed && mac.length < 0)",
    caughtBy: ["packages/runner/src/state/state-signed.test.ts"],
  },
  {
    what: "a saved session without a signature is always restored: leaving it out is enough to forge one",
    file: "packages/runner/src/state/manifest.ts",
    find: "if (key !== undefined && !signed && !acceptUnsigned)",
    replace: "if (acceptUnsigned && !acceptUnsigned)",
    caughtBy: ["packages/runner/src/state/state-signed.test.ts"],
  },
  {
    what: "a member of an archive without a checksum is taken",
    file: "packages/runner/src/state/read-archive.ts",
    find: 'if (hash.digest("hex") !== sha256)',
    replace: 'if (sha256 === "")',
    caughtBy: ["packages/runner/src/state/state-hostile.test.ts"],
  },
  {
    what: "a link in the place of a saved session is followed to wherever it leads",
    file: "packages/runner/src/files.ts",
    find: "export const SAFELY: number = constants.O_NOFOLLOW | constants.O_NONBLOCK;",
    replace: "export const SAFELY: number = constants.O_NONBLOCK;",
    caughtBy: ["packages/runner/src/state/state-hostile.test.ts"],
  },
  {
    what: "a record steers the operator's terminal",
    file: "packages/cli/src/run-command.ts",
    find: "const terminal = cleanTerminal(given);",
    replace: "const terminal = cleanTerminal(given) && given;",
    caughtBy: ["packages/cli/src/terminal.test.ts"],
  },
  {
    what: "a note of a pod makes two lines of one, the second of them with our own mark",
    file: "packages/paperclip/src/observe/log.ts",
    find: "cleanLine(line.text)",
    replace: "line.text",
    caughtBy: ["packages/paperclip/src/observe/log.test.ts"],
  },
  {
    what: "a CLI's stderr carries terminal codes into the log",
    file: "packages/paperclip/src/observe/stderr-lines.ts",
    find: 'cleanText(line.endsWith("\\r") ? line.slice(0, -1) : line)',
    replace: "line",
    caughtBy: ["packages/paperclip/src/observe/output.test.ts"],
  },
  {
    what: "a line of a CLI's stderr is taken for one of ours",
    file: "packages/paperclip/src/observe/stderr-lines.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    find: "lines.map((line) => `${asForeign(line)}\\n`)",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    replace: "lines.map((line) => `${line}\\n`)",
    caughtBy: ["packages/paperclip/src/observe/output.test.ts"],
  },
  {
    what: "a NUL in what a CLI said keeps the host from storing the result",
    file: "packages/paperclip/src/conclude/result.ts",
    find: "cleanValue(conclusionOf(attempts))",
    replace: "conclusionOf(attempts)",
    caughtBy: ["packages/paperclip/src/conclude/result.test.ts"],
  },
  {
    what: "output is read through a link that a pod has put in a folder's place",
    file: engine("volume/child/open-below.ts"),
    find: "if (top !== null && place === join(top, below)) return fd;",
    replace: "if (top === null) return fd;",
    caughtBy: [engine("volume/child/race.test.ts")],
  },
  {
    what: "whoever listens in an adapter's place fills the command line's memory",
    file: "packages/paperclip/src/handover/drain/control-client.ts",
    find: "if (text.length <= MAX_ANSWER_BYTES) return;",
    replace: "if (text !== null) return;",
    caughtBy: ["packages/paperclip/src/handover/drain/control-server.test.ts"],
  },
  {
    what: "a saved session of any age is taken without a signature",
    file: "packages/paperclip/src/prepare/session.ts",
    find: "incomingSession({ runtime }) !== null && recordOf(runtime.sessionParams)[SIGNED] !== true",
    replace: "incomingSession({ runtime }) !== null",
    caughtBy: ["packages/paperclip/src/prepare/session.test.ts"],
  },
  {
    what: "a forged negative cost pays for the runs of other agents",
    file: "packages/paperclip/src/agent-cli/json-fields.ts",
    find: 'typeof value === "number" && value > 0 ? Math.min(value, MOST) : 0',
    replace: 'typeof value === "number" ? value : 0',
    caughtBy: ["packages/paperclip/src/conclude/result.test.ts"],
  },
  {
    what: "a time that no calendar has, in an agent's output, takes the run's result away",
    file: "packages/paperclip/src/conclude/exit.ts",
    find: "new Date(Math.min(at, now + LONGEST_WAIT_MS))",
    replace: "new Date(at)",
    caughtBy: ["packages/paperclip/src/conclude/result.test.ts"],
  },
  {
    what: "an agent's id with a path in it becomes part of a path",
    file: engine("volume/paths.ts"),
    find: "!/^[a-zA-Z0-9-]+$/.test(value)",
    replace: 'value === ""',
    caughtBy: [engine("volume/paths.test.ts"), suite("recorded")],
  },
  {
    what: "a CLI whose output has changed is called a success, although not one of its events was understood",
    file: "packages/adapter-opencode/src/opencode/classify.ts",
    find: 'if (result.unreadable !== null) return fault("truncated", result.unreadable);',
    replace: "",
    caughtBy: ["packages/adapter-opencode/src/opencode/classify.test.ts", suite("recorded")],
  },
  {
    what: "the server's own secrets are given to agents that name them",
    file: "packages/paperclip/src/prepare/inherit/name-rules.ts",
    find: 'if (why !== null && (why.kind === "secret" || !named)) return why;',
    replace: "if (why !== null && !named) return why;",
    caughtBy: ["packages/paperclip/src/prepare/inherit/inherit-env.test.ts"],
  },
  {
    what: "the path / becomes no path at all",
    file: engine("without-trailing.ts"),
    find: "end > keep &&",
    replace: "end > 0 &&",
    caughtBy: [engine("without-trailing.test.ts")],
  },
  {
    what: "a setting can be of any length",
    file: "packages/paperclip/src/settings/field.ts",
    find: 'if (typeof value === "string" && value.length > longest)',
    replace: "if (longest < 0)",
    caughtBy: ["packages/paperclip/src/settings/parse.test.ts"],
  },
  {
    what: "a token inside a word that only begins like a JWT is shown",
    file: "packages/paperclip/src/prepare/prompt/redact.ts",
    find: "found.replace(KEYS, MASK)",
    replace: "found",
    caughtBy: ["packages/paperclip/src/prepare/prompt/redact.test.ts"],
  },
  {
    what: "a star in the policy's path patterns reaches into other folders",
    file: "packages/paperclip/src/policy/patterns.ts",
    find: '(star === "any" || value[at - 1] !== "/")',
    replace: 'star !== ""',
    caughtBy: ["packages/paperclip/src/policy/patterns.test.ts"],
  },
];
