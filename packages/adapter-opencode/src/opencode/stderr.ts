import { withoutTerminalCodes } from "@paperclip-k8s/paperclip/clean-text";

/** An error line of OpenCode's log. */
export interface LogError {
  readonly name: string;
  readonly message: string;
  readonly ref: string | null;
}

interface StderrFacts {
  /** The error that the CLI printed before it ended, without "Error:". */
  readonly fatal: string | null;
  /** It printed its usage in place of an error, which is all it writes about an option it does not know. */
  readonly refusedArguments: boolean;
  /** The permission that was rejected because there is nobody to ask. */
  readonly rejected: string | null;
  readonly log: readonly LogError[];
}

const LOG_LINE = /^timestamp=\S+ level=(?:ERROR|FATAL) /;
const SCANNED = 256 * 1024;

function field(line: string, name: string): string | null {
  const quoted = new RegExp(` ${name.replace(".", "\\.")}="((?:[^"\\\\]|\\\\.)*)"`).exec(line)?.[1];
  if (quoted !== undefined) return quoted.replace(/\\n/g, "\n").replace(/\\(.)/g, "$1");
  return new RegExp(` ${name.replace(".", "\\.")}=([^\\s"]+)`).exec(line)?.[1] ?? null;
}

function readLogLine(line: string): LogError | undefined {
  // A session without a title is no failed run.
  if (field(line, "agent") === "title") return undefined;
  const text = field(line, "error.error") ?? field(line, "error");
  if (text === null) return undefined;
  const named = /^([A-Za-z_]*Error): ([\s\S]+)$/.exec(text);
  return { name: named?.[1] ?? "Error", message: (named?.[2] ?? text).split("\n")[0]!.trim(), ref: field(line, "ref") };
}

/** The facts in stderr, as far as OpenCode itself wrote it. */
export function readStderr(stderr: string): StderrFacts {
  const log: LogError[] = [];
  let fatal: string | null = null;
  let rejected: string | null = null;
  let usage = false;
  for (const raw of stderr.slice(-SCANNED).split("\n")) {
    const line = withoutTerminalCodes(raw).trimEnd();
    if (LOG_LINE.test(line)) {
      const error = readLogLine(line);
      if (error) log.push(error);
      continue;
    }
    fatal = /^Error: (.+)$/.exec(line)?.[1] ?? fatal;
    usage ||= line === "opencode run [message..]";
    rejected = /^! +permission requested: (.+); auto-rejecting$/.exec(line)?.[1] ?? rejected;
  }
  return { fatal, refusedArguments: usage && fatal === null, rejected, log };
}

/** A line of OpenCode's log without its time, ids and stack: `ERROR stream error: AI_APICallError: overloaded`. Any other line as it is. */
export function showStderr(line: string): string {
  const level = /^timestamp=\S+ level=([A-Z]+) /.exec(line)?.[1];
  if (level === undefined) return line;
  const cause = field(line, "error.error") ?? field(line, "error") ?? field(line, "cause");
  const texts = [field(line, "message"), cause?.split("\n")[0]?.trim()].filter((text) => text);
  const ref = field(line, "ref");
  return texts.length === 0 ? line : `${level} ${texts.join(": ")}${ref === null ? "" : ` (${ref})`}`;
}
