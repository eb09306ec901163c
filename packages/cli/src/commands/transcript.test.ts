import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { adapters, cliNames } from "../../../adapters.ts";
import type { Terminal } from "../terminal.ts";
import { transcript } from "./transcript.ts";

// With a recording of a real CLI; what is printed is in unattended.test.ts.

const RUN = "0b5b9c1e-aaaa-bbbb-cccc-000000000000";
const fixture = new URL(`../../../${adapters[cliNames[0]].folder}/fixtures/tool-call.ndjson`, import.meta.url);

async function print(
  output: string,
  most?: number,
  place = `${RUN}.pod/output.ndjson`,
): Promise<{ code: number; out: string[]; err: string[] }> {
  const data = mkdtempSync(join(tmpdir(), "transcript-"));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const path = join(data, "instances/default/data/run-logs/company/agent", place);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, output);
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = { out: (line: string) => out.push(line), err: (line: string) => err.push(line) } as unknown as Terminal;
  const code = await transcript({ name: "transcript", run: RUN, data, instance: "default" }, terminal, most);
  return { code, out, err };
}

test("a text of very many lines is printed as a whole", async () => {
  const recorded = readFileSync(fixture, "utf8");
  const short = (await print(recorded)).out;
  const text = longestText(recorded);
  const many = Array.from({ length: 150_000 }, () => "x").join("\\n");
  const { code, out } = await print(recorded.replace(text, many));
  expect(code).toBe(0);
  expect(out.length).toBeGreaterThan(short.length + 149_000);
});

/** What the agent says last, as it stands in the recording. */
function longestText(recorded: string): string {
  const texts = [...recorded.matchAll(/"text":"((?:[^"\\]|\\.)+)"/g)].map(([, text]) => text ?? "");
  return texts.toSorted((a, b) => b.length - a.length)[0]!;
}

test("it stops reading at its bound, and says so", async () => {
  const recorded = readFileSync(fixture, "utf8");
  const whole = await print(recorded, recorded.length);
  expect(whole.err).toHaveLength(1);
  const half = await print(recorded, Math.floor(recorded.length / 2));
  expect(half.out.length).toBeLessThan(whole.out.length);
  expect(half.err[1]).toMatch(/^only the first \d+ bytes were read: there is more in \/.*output\.ndjson$/);
});

test("of a run whose output is gone, the end that was kept, and it says so", async () => {
  const recorded = readFileSync(fixture, "utf8");
  const { code, out, err } = await print(recorded, undefined, `kept-output/${RUN}.ndjson`);
  expect(code).toBe(0);
  expect(out).toEqual((await print(recorded)).out);
  expect(err).toEqual([expect.stringMatching(/^the end of the output, \/.*kept-output\/.*\.ndjson$/)]);
  expect((await print(recorded, undefined, `kept-output/.part-${RUN}.ndjson`)).code).not.toBe(0);
});

test("a run that took a Job over has a folder and no output: that is said", async () => {
  const { code, out, err } = await print("", undefined, `${RUN}.pod/other-file`);
  expect([code, out]).toEqual([1, []]);
  expect(err.join()).toContain(`no output of run ${RUN} is kept`);
});
