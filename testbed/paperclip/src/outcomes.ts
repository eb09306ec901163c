// `node testbed/paperclip/src/outcomes.ts [--version v] [--only text|text] [--write]`: makes every way a run can end happen on real
// hosts and prints what each host made of it, as a table. --write puts their rows into docs/hosts.md, with
// today's date. The exit code is 1 if an end is not as ends/endings.ts expects it.
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { endings, prepareCluster } from "./ends/endings.ts";
import { makeHappen, type Observed } from "./ends/observe.ts";
import { outcomesTable, withTable } from "./ends/outcome-table.ts";
import { prepare } from "./prepare.ts";
import { ROOT, VERSIONS, type Version, versionNamed } from "./server/release.ts";
import { openStage } from "./stage.ts";

/** As many runs at once as a small machine bears. */
const AT_ONCE = 3;
const say = (line: string) => console.error(line);

const { values } = parseArgs({ options: { version: { type: "string" }, only: { type: "string" }, write: { type: "boolean" } } });
const versions = values.version === undefined ? VERSIONS : [versionNamed(values.version)];
const page = values.write ? await open(join(ROOT, "docs/hosts.md"), "r+") : null;
const packed = await prepare(versions, say);
for (const version of versions) {
  const rows = await observeAll(version);
  const table = outcomesTable(rows);
  for (const problem of rows.flatMap(problemsOf)) {
    say(`${version}: ${problem}`);
    process.exitCode = 1;
  }
  console.log(`\n### Paperclip ${version}\n\n${table}`);
  if (page !== null) await writeTable(page, version, table);
}

async function observeAll(version: Version): Promise<(Observed | Error)[]> {
  const stage = await openStage(packed, { version, say });
  try {
    prepareCluster(stage);
    const chosen = endings.filter(({ name }) => values.only === undefined || values.only.split("|").some((part) => name.includes(part)));
    const pending: Promise<Observed | Error>[] = [];
    const queue = [...chosen.entries()];
    const worker = async () => {
      for (let entry = queue.shift(); entry !== undefined; entry = queue.shift()) {
        const [number, ending] = entry;
        say(`${version}: ${ending.name}`);
        try {
          const look = await makeHappen(stage, ending, number + 1);
          pending[number] = look()
            .catch((error: Error) => new Error(`${ending.name}: ${error.message}`))
            .then(shown);
        } catch (error) {
          pending[number] = Promise.resolve(new Error(`${ending.name}: ${(error as Error).message}`));
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return await Promise.all(pending);
  } finally {
    await stage.stop();
  }
}

/** Each row is shown at once too: the others may take minutes. */
function shown(row: Observed | Error): Observed | Error {
  say(outcomesTable([row]).split("\n").at(-1) ?? "");
  return row;
}

/** What is not as `ends/endings.ts` expects it. */
function problemsOf(row: Observed | Error): string[] {
  if (row instanceof Error) return [`not observed: ${row.message}`];
  const { ending, run, comments, nextRun } = row;
  const { name, expected } = ending;
  const cause = run.resultJson?.cause ?? run.errorCode;
  if (cause !== (expected?.cause ?? null)) return [`${name}: ended as ${cause}, expected ${expected?.cause ?? "a success"}`];
  if (expected === null) return [];
  const isSaid = comments.length > 0 || expected.way === "retry" || expected.way === "free";
  return [
    ...(isSaid ? [] : [`${name}: the issue's page does not say why`]),
    ...(expected.wayOutBy === null || nextRun !== null ? [] : [`${name}: a ${expected.wayOutBy} starts nothing`]),
  ];
}

/** Puts the rows into docs/hosts.md, which was opened while this process could still write it. */
async function writeTable(file: FileHandle, version: Version, table: string): Promise<void> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(1 << 20), 0, 1 << 20, 0);
  const names = endings.map(({ name }) => name);
  const text = Buffer.from(withTable(buffer.toString("utf8", 0, bytesRead), version, table, names));
  await file.truncate(0);
  await file.write(text, 0, text.length, 0);
}
