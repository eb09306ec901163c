// `node testbed/paperclip/src/outcomes.ts [--version v] [--only text] [--write]`: makes every way a run can end happen on real
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
try {
  for (const version of versions) {
    const table = tableOf(await observeAll(version));
    console.log(`\n### Paperclip ${version}\n\n${table}`);
    if (values.write) await writeTable(version, table);
  }
} finally {
  await packed.remove();
}

async function observeAll(version: Version): Promise<(Observed | Error)[]> {
  const stage = await openStage(packed, { version, say });
  try {
    prepareCluster(stage);
    const chosen = ways.filter(({ name }) => values.only === undefined || name.includes(values.only));
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

function tableOf(rows: readonly (Observed | Error)[]): string {
  const head =
    "| how the run ended | run status | `errorCode` | message | issue after a sweep | what came next |\n|---|---|---|---|---|---|";
  return [head, ...rows.map((row) => (row instanceof Error ? `| not observed: ${cell(row.message)} | | | | | |` : line(row)))].join("\n");
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

function line({ way, run, issue, recovery, next, complaint }: Observed): string {
  const hold = issue.executionBlocker ? `held: \`${issue.executionBlocker.cause}\`` : recovery === null ? null : `action: \`${recovery}\``;
  const came = next.map((after) => {
    const due = after.status === "scheduled_retry" && after.scheduledRetryAt ? ` in ${secondsAfter(run, after.scheduledRetryAt)} s` : "";
    const code = after.errorCode === null ? "" : ` \`${after.errorCode}\``;
    return `${after.contextSnapshot?.wakeReason ?? "?"}${after.retryOfRunId === run.id ? " (retry of it)" : ""}: ${after.status}${due}${code}`;
  });
  const cells = [
    way.name + (complaint === null ? "" : ` (${complaint})`),
    run.status,
    run.errorCode === null ? "–" : `\`${run.errorCode}\``,
    run.error ?? "–",
    [issue.status, hold].filter((part) => part !== null).join(", "),
    came.length === 0 ? "nothing" : came.join("; "),
  ];
  return `| ${cells.map(cell).join(" | ")} |`;
}

function secondsAfter(run: Run, time: string): number {
  return Math.round((Date.parse(time) - Date.parse(run.createdAt)) / 1000);
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ").slice(0, 300);
}
