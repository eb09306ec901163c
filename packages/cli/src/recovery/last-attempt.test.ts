import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { endRecord, metaFile, SECRET } from "../testing/example-run.ts";
import { heldIssue } from "../testing/held-issue.ts";
import { readLastEnd } from "./last-attempt.ts";

const RUN = "0b5b9c1e-aaaa-bbbb-cccc-000000000000";

test("the end of the last attempt counts, however many there were", async () => {
  const data = mkdtempSync(join(tmpdir(), "last-attempt-"));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const folder = join(data, "instances/default/data/run-logs/company-1/agent-1");
  mkdirSync(folder, { recursive: true });
  const attempt = (name: string, exitCode: number | null) => {
    // The even ones as earlier versions wrote them.
    const isEarlier = name !== RUN && /-\d*[02468]$/.test(name);
    const output = join(folder, isEarlier ? `${name}.pod.ndjson` : `${name}.pod/output.ndjson`);
    mkdirSync(dirname(output), { recursive: true });
    writeFileSync(output, "");
    const records = exitCode === null ? [] : [endRecord({ exitCode, bytes: 0, written: 0, lines: 0 })];
    writeFileSync(`${output}.meta`, metaFile(RUN, records, isEarlier ? null : SECRET));
  };
  const end = () => readLastEnd(heldIssue(), { data, instance: "default", secret: SECRET });
  expect(await end()).toBeNull();
  attempt(RUN, 1);
  expect(await end()).toMatchObject({ record: { exitCode: 1 }, proved: true });
  for (const number of [2, 3]) attempt(`${RUN}-${number}`, 1);
  attempt(`${RUN}-4`, 0);
  attempt("another", 7);
  expect(await end()).toMatchObject({ record: { exitCode: 0 }, proved: false });
  // It has not ended, whatever the ones before it did.
  attempt(`${RUN}-11`, null);
  expect(await end()).toBeNull();
  expect(await readLastEnd(heldIssue({ companyId: "../company-1" }), { data, instance: "default", secret: SECRET })).toBeNull();
});
