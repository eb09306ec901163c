// `node testbed/paperclip/src/outcomes.ts [--version v] [--only text|text] [--write]`: makes every way a run can end happen on real
// hosts and prints what each host made of it, as a table. --write puts the tables into docs/hosts.md, with today's date.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Run } from "./company.ts";
import { prepareCluster, ways } from "./endings.ts";
import { makeHappen, type Observed } from "./observe.ts";
import { prepare } from "./prepare.ts";
import { ROOT, VERSIONS, type Version } from "./release.ts";
import { openStage } from "./stage.ts";

/** As many runs at once as a small machine bears. */
const AT_ONCE = 3;
const say = (line: string) => console.error(line);

const { values } = parseArgs({ options: { version: { type: "string" }, only: { type: "string" }, write: { type: "boolean" } } });
const versions = VERSIONS.filter((version) => values.version === undefined || version === values.version);
const packed = await prepare(versions, say);
for (const version of versions) {
  const rows = await observeAll(version);
  const table = tableOf(rows);
  for (const problem of rows.flatMap(problemsOf)) {
    say(`${version}: ${problem}`);
    process.exitCode = 1;
  }
  console.log(`\n### Paperclip ${version}\n\n${table}`);
  if (values.write) await writeTable(version, table);
}

async function observeAll(version: Version): Promise<(Observed | Error)[]> {
  const stage = await openStage(packed, { version, say });
  try {
    prepareCluster(stage);
    const chosen = ways.filter(({ name }) => values.only === undefined || values.only.split("|").some((part) => name.includes(part)));
    const pending: Promise<Observed | Error>[] = [];
    const queue = [...chosen.entries()];
    const worker = async () => {
      for (let entry = queue.shift(); entry !== undefined; entry = queue.shift()) {
        const [number, way] = entry;
        say(`${version}: ${way.name}`);
        try {
          const look = await makeHappen(stage, way, number + 1);
          pending[number] = look().catch((error: Error) => error);
        } catch (error) {
          pending[number] = Promise.resolve(new Error(`${way.name}: ${(error as Error).message}`));
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return await Promise.all(pending);
  } finally {
    await stage.stop();
  }
}

const COLUMNS = [
  "how the run ended",
  "run",
  "message on the run's page",
  "comment on the issue's page",
  "issue after a sweep",
  "what came by itself",
  "the way out",
];

/** What is not as `endings.ts` expects it. */
function problemsOf(row: Observed | Error): string[] {
  if (row instanceof Error) return [`not observed: ${row.message}`];
  const { way, run, comments, wentOn } = row;
  const { name, expected } = way;
  const cause = run.resultJson?.cause ?? run.errorCode;
  if (cause !== (expected?.cause ?? null)) return [`${name}: ended as ${cause}, expected ${expected?.cause ?? "a success"}`];
  if (expected === null) return [];
  const isSaid = comments.length > 0 || expected.out === "retry" || expected.out === "free";
  return [
    ...(isSaid ? [] : [`${name}: the issue's page does not say why`]),
    ...(expected.by === null || wentOn !== null ? [] : [`${name}: a ${expected.by} starts nothing`]),
  ];
}

function tableOf(rows: readonly (Observed | Error)[]): string {
  const head = [`| ${COLUMNS.join(" | ")} |`, `|${"---|".repeat(COLUMNS.length)}`];
  const lines = rows.map((row) =>
    row instanceof Error ? `| not observed: ${cell(row.message)} |${" |".repeat(COLUMNS.length - 1)}` : line(row),
  );
  return [...head, ...lines].join("\n");
}

/** Replaces what stands under the release's heading in docs/hosts.md. */
async function writeTable(version: Version, table: string): Promise<void> {
  const path = join(ROOT, "docs/hosts.md");
  const page = await readFile(path, "utf8");
  const from = page.indexOf(`## Paperclip ${version}\n`);
  if (from < 0) throw new Error(`${path} has no heading "## Paperclip ${version}"`);
  const next = page.indexOf("\n## ", from);
  const today = new Date().toISOString().slice(0, 10);
  const section = `## Paperclip ${version}\n\nObserved on ${today}.\n\n${table}\n`;
  await writeFile(path, page.slice(0, from) + section + (next < 0 ? "" : page.slice(next)));
}

function line(seen: Observed): string {
  const { way, run, issue, recovery, next, comments, complaint } = seen;
  const hold = issue.executionBlocker ? `held: \`${issue.executionBlocker.cause}\`` : recovery === null ? null : `action: \`${recovery}\``;
  const cells = [
    way.name + (complaint === null ? "" : ` (${complaint})`),
    [run.status, ...codesOf(run)].join(", "),
    run.error ?? "–",
    comments.length === 0 ? "–" : comments.join(" / "),
    [issue.status, hold].filter((part) => part !== null).join(", "),
    next.length === 0 ? "nothing" : next.map((after) => nextRun(run, after)).join("; "),
    wayOutOf(seen),
  ];
  return `| ${cells.map(cell).join(" | ")} |`;
}

/** The host's code, and our own where that is another. */
function codesOf({ errorCode, resultJson }: Run): string[] {
  const cause = resultJson?.cause;
  return [...new Set([errorCode, typeof cause === "string" ? cause : null])].filter((code) => code !== null).map((code) => `\`${code}\``);
}

function nextRun(run: Run, after: Run): string {
  const due = after.status === "scheduled_retry" && after.scheduledRetryAt ? ` in ${secondsAfter(run, after.scheduledRetryAt)} s` : "";
  const codes = codesOf(after).map((code) => ` ${code}`);
  return `${after.contextSnapshot?.wakeReason ?? "?"}${after.retryOfRunId === run.id ? " (retry of it)" : ""}: ${after.status}${due}${codes.join("")}`;
}

/** What was done on the issue's page, and what it started. */
function wayOutOf({ way: { expected, fix }, wentOn }: Observed): string {
  if (expected === null) return "–";
  if (expected.by === null) return "none needed";
  const done = `${fix === undefined ? "" : "corrected, then "}${expected.by === "todo" ? "set to todo" : "a comment"}`;
  return `${done}: ${wentOn === null ? "**nothing started**" : `a run started (${wentOn.contextSnapshot?.wakeReason ?? "?"})`}`;
}

function secondsAfter(run: Run, time: string): number {
  return Math.round((Date.parse(time) - Date.parse(run.createdAt)) / 1000);
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ").slice(0, 500);
}
