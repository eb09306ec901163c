import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { endRecord, metaFile, SECRET } from "../testing/example-run.ts";
import { findRunFiles, removeRunFiles, timeOf } from "./run-files.ts";

const RUN = "0cd38448-2fc7-4563-9601-708220c45361";
const OTHER = "5bcd0f78-2cad-4e13-951a-682ae8992ee9";
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "run-files-"));
  mkdirSync(join(root, "company/agent"), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

const put = (name: string, text: string, at: number) => {
  const path = join(root, "company/agent", name);
  writeFileSync(path, text);
  utimesSync(path, at, at);
};
const records = (run: string) => metaFile(run, [endRecord()]);

test("output, records and claim of a run are one, each attempt by itself; the host's own logs are none of them", async () => {
  put(`${RUN}.pod.ndjson`, "12345", 1000);
  put(`${RUN}.pod.ndjson.meta`, records(RUN), 3000);
  put(`${RUN}.pod.ndjson.claim`, "", 2000);
  put(`${RUN}-2.pod.ndjson`, "", 4000);
  put(`${OTHER}.pod.ndjson.meta`, records(RUN), 500);
  put(`${RUN}.ndjson`, "the host's", 1000);
  const found = await findRunFiles(root, SECRET);
  expect(found.map(({ name, run, end }) => [name, run, end?.exitCode])).toEqual([
    [`company/agent/${OTHER}.pod.ndjson`, OTHER, undefined],
    [`company/agent/${RUN}.pod.ndjson`, RUN, 0],
    [`company/agent/${RUN}-2.pod.ndjson`, RUN, undefined],
  ]);
  expect(found[1]).toMatchObject({ bytes: 5 + records(RUN).length, writtenAt: new Date(3_000_000).toISOString() });
  for (const set of found) await removeRunFiles(set);
  expect(readdirSync(join(root, "company/agent"))).toEqual([`${RUN}.ndjson`]);
});

test("a run's own folder is one, and goes with whatever its pod has put into it", async () => {
  const folder = join(root, "company/agent", `${RUN}.pod`);
  mkdirSync(join(folder, "more/deeper"), { recursive: true });
  writeFileSync(join(root, "kept"), "");
  symlinkSync(root, join(folder, "more/link"));
  put(`${RUN}.pod/output.ndjson`, "12345", 1000);
  put(`${RUN}.pod/output.ndjson.meta`, records(RUN), 3000);
  put(`${OTHER}.pod`, "no folder", 3000);
  // That its cost was reported is noted beside it.
  put(`${RUN}.pod-cost.json`, "{}", 9000);
  put(`${OTHER}.pod-cost.json`, "{}", 9000);
  utimesSync(folder, 2000, 2000);
  const found = await findRunFiles(root, SECRET);
  expect(found).toMatchObject([
    { name: `company/agent/${RUN}.pod/output.ndjson`, run: RUN, end: { exitCode: 0 }, bytes: 5 + records(RUN).length },
  ]);
  expect(found[0]?.writtenAt).toBe(new Date(3_000_000).toISOString());
  for (const set of found) await removeRunFiles(set);
  expect(readdirSync(join(root, "company/agent")).sort()).toEqual([`${OTHER}.pod`, `${OTHER}.pod-cost.json`]);
  expect(readdirSync(root).sort()).toEqual(["company", "kept"]);
});

test("a missing folder is no error, and links are not followed", async () => {
  expect(await findRunFiles(join(root, "missing"), SECRET)).toEqual([]);
  put(`${RUN}.pod.ndjson`, "", 1000);
  symlinkSync(join(root, "company/agent"), join(root, "company/linked"));
  symlinkSync(join(root, `company/agent/${RUN}.pod.ndjson`), join(root, `company/agent/${OTHER}.pod.ndjson`));
  expect((await findRunFiles(root, SECRET)).map(({ run }) => run)).toEqual([RUN]);
});

test("an end record that nobody is proved to have written is none", async () => {
  const ends = async (meta: string, secret: Uint8Array | null) => {
    put(`${RUN}.pod.ndjson.meta`, meta, 1000);
    return (await findRunFiles(root, secret)).map(({ end }) => end?.exitCode);
  };
  expect(await ends(records(RUN), SECRET)).toEqual([0]);
  expect(await ends(metaFile(RUN, [endRecord()], null), SECRET)).toEqual([undefined]);
  expect(await ends(metaFile(RUN, [endRecord()], Buffer.alloc(32, 9)), SECRET)).toEqual([undefined]);
  expect(await ends(records(RUN), null)).toEqual([undefined]);
});

test("whatever a pod has left in the place of its files, the others are found", async () => {
  put(`${OTHER}.pod.ndjson`, "", 1000);
  const folder = join(root, "company/agent");
  execFileSync("mkfifo", [join(folder, `${RUN}.pod.ndjson`), join(folder, `${OTHER}.pod.ndjson.meta`)]);
  symlinkSync("/dev/zero", join(folder, `${RUN}-2.pod.ndjson`));
  mkdirSync(join(folder, `${RUN}-3.pod.ndjson`));
  writeFileSync(join(folder, "\u001b]0;x\u0007\n.pod.ndjson"), "");
  const found = await findRunFiles(root, SECRET);
  expect(found.map(({ run, end }) => [run, end])).toContainEqual([OTHER, null]);
});

test("a time that no calendar has is the last one that it has", () => {
  expect([timeOf(0), timeOf(1e300), timeOf(-1e300)]).toEqual([
    "1970-01-01T00:00:00.000Z",
    "+275760-09-13T00:00:00.000Z",
    "-271821-04-20T00:00:00.000Z",
  ]);
});
