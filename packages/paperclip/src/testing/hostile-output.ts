// Output that an agent could write to harm the server that reads it. For tests of the CLIs' parsers.
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import type { AgentCli } from "../agent-cli/agent-cli.ts";
import { conclude } from "../conclude/result.ts";
import type { ExecutionResult } from "../host/types.ts";
import { type LogFormat, RunLog } from "../observe/log.ts";
import { AttemptOutput } from "../observe/output.ts";
import { exampleAttempt, exampleInputs, exampleResult, exited } from "./example-attempt.ts";

interface Shown {
  readonly log: string;
  readonly result: ExecutionResult;
}

/** The whole way of an attempt's output: to the log, and into the host's result. */
export async function showOutput(cli: AgentCli, stdout: string, stderr: string, format: LogFormat = "transcript"): Promise<Shown> {
  let log = "";
  const runLog = new RunLog(async (_, chunk) => {
    log += chunk;
  });
  runLog.format = format;
  const output = new AttemptOutput(cli, runLog);
  await output.stdout(Buffer.from(stdout));
  await output.stderr(stderr);
  await output.end();
  const fault = output.parser.fault(output.stderrTail);
  const attempt = exampleAttempt({ inputs: exampleInputs({ cli }) });
  const last = exampleResult(exited(1), { attempt, report: output.parser.report(), fault, stderr: output.stderrTail, endedAt: Date.now() });
  return { log, result: conclude({ earlier: [], last }).result };
}

const STRANGE: readonly unknown[] = [
  null,
  true,
  -1,
  1e300,
  -1e300,
  0.1,
  "",
  "\0\u001b[2J",
  "__proto__",
  "x".repeat(5000),
  [],
  {},
  [[]],
  { toString: 1, valueOf: 1 },
  { length: 1e9 },
  [null],
];
const strange = fc.oneof(fc.constantFrom(...STRANGE), fc.jsonValue({ maxDepth: 2 }));

/** A real event with something strange in any of its places. */
function spoiled(lines: readonly string[]): fc.Arbitrary<string> {
  return fc.tuple(fc.constantFrom(...lines), fc.array(fc.tuple(fc.nat(), strange), { maxLength: 4 })).map(([line, changes]) => {
    const places: [Record<string, unknown>, string][] = [];
    const walk = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      for (const key of Object.keys(value)) places.push([value as Record<string, unknown>, key]);
      for (const item of Object.values(value)) walk(item);
    };
    const event: unknown = JSON.parse(line);
    walk(event);
    for (const [at, value] of changes) {
      const [owner, key] = places[at % places.length] ?? [];
      if (owner !== undefined && key !== undefined) owner[key] = value;
    }
    return JSON.stringify(event);
  });
}

/** Lines of a CLI that were tampered with, among lines of anybody. */
function hostileOutput(lines: readonly string[]): fc.Arbitrary<string> {
  const line = fc.oneof(
    { weight: 5, arbitrary: spoiled(lines) },
    fc.string({ unit: "binary" }),
    fc.jsonValue().map((value) => JSON.stringify(value)),
  );
  return fc.array(line, { maxLength: 12 }).map((all) => all.join("\n"));
}

/** The events in a CLI's recordings. */
export function recordedEvents(fixtures: URL): string[] {
  return readdirSync(fixtures)
    .filter((name) => name.endsWith(".ndjson"))
    .flatMap((name) => readFileSync(new URL(name, fixtures), "utf8").split("\n"))
    .filter((line) => line.startsWith("{"));
}

/** Throws when some output, made of these events at random, harms the log or the result. */
export async function assertHarmless(cli: AgentCli, recorded: readonly string[]): Promise<void> {
  const format = fc.constantFrom<LogFormat>("transcript", "transcript", "raw");
  const output = fc.tuple(hostileOutput(recorded), fc.string({ unit: "binary", maxLength: 200 }), format);
  const isHarmless = fc.asyncProperty(output, async (written) => {
    const wrong = wrongIn(await showOutput(cli, ...written));
    if (wrong !== null) throw new Error(wrong);
  });
  await fc.assert(isHarmless, { numRuns: process.env.LONG ? 5000 : 300 });
}

const BYTES = process.env.LONG ? 4_000_000 : 200_000;
const deep = (open: string, close: string): string => open.repeat(100_000) + close.repeat(100_000);
const many = (piece: string): string => piece.repeat(BYTES / piece.length);

/** Each takes hours, or all memory, where the time or memory grows with the square of the length. */
export const LONG: readonly (readonly [string, (event: (text: unknown) => string) => string])[] = [
  ["nested lists", (event) => event("@").replace('"@"', deep("[", "]"))],
  ["nested objects", (event) => event("@").replace('"@"', deep('{"a":', "}").replace("}", "1}"))],
  ["nested and cut off", () => deep('{"type":', "")],
  ["newlines", (event) => event(many("a\n"))],
  ["blanks", (event) => event(`${many(" ")}x`)],
  ["escape codes", (event) => event(many("\u001b]"))],
  ["addresses", (event) => event(many("https://"))],
  ["the words of an error", (event) => event(many("previous_message_id image model resets "))],
  ["quotes", (event) => event(many('"\\'))],
  ["our own marks", (event) => event(many("  {  #⏎ "))],
  ["a list of many", (event) => event("@").replace('"@"', `[${many('{"type":"text","text":"a"},')}1]`)],
];

/** Names of tools around the lengths at which they are cut; many calls of each are open at once. */
export const TOOL_NAMES: readonly string[] = [47, 48, 49, 57, 58, 60, 100, 5000].flatMap((length) => [
  "n".repeat(length),
  "🧵".repeat(length),
]);

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNFIT = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\p{Cs}/u;

/** What is wrong with what the host would get; null = nothing. */
export function wrongIn({ log, result }: Shown): string | null {
  if (
    UNFIT.test(log) ||
    log.split("\n").some((line) => line.startsWith("[paperclip]") && !/^\[paperclip\] (warning: |a line of )/.test(line))
  )
    return `the log: ${JSON.stringify(log.slice(0, 500))}`;
  const text = JSON.stringify(result);
  if (textsIn(result).some((each) => UNFIT.test(each))) return `the result: ${text.slice(0, 500)}`;
  if (text.length > 400_000) return `a result of ${text.length} characters`;
  const { usage, costUsd = null } = result;
  const amounts = [...Object.values(usage ?? {}), costUsd ?? 0];
  return amounts.every((amount) => Number.isFinite(amount) && amount >= 0) ? null : `amounts ${amounts.join(" ")}`;
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.entries(value).flatMap(([key, item]) => [key, ...textsIn(item)]) : [];
}
