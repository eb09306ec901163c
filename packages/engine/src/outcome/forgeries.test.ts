import { describe, expect, test } from "vitest";
import { accepted, delivered, ended, endRecord, KEY, kindOf, message, play, pod, running, sha256Of } from "./testing/example-facts.ts";

const atWork = [{ kind: "pod", pod: pod(running) }, { kind: "cli-started" }] as const;
const exitedWith = (exitCode: number, text: string) =>
  ({ kind: "pod", pod: pod(ended(exitCode, "Error", text), { phase: "Failed" }) }) as const;
const unsignedMessage = (text: string): string => text.replace(/,"mac":"[^"]*"/, "");

describe("a termination message", () => {
  test("with the run's MAC tells how the CLI ended", () => {
    expect(kindOf(play([...atWork, delivered(10), exitedWith(3, message({ exitCode: 0 }))]))).toMatchObject({
      kind: "exited",
      exitCode: 0,
    });
  });

  test.each([
    ["without a MAC", unsignedMessage(message({ exitCode: 0 }))],
    ["with one letter changed", message({ exitCode: 3 }).replace('"exitCode":3', '"exitCode":0')],
  ])("%s does not: the container's own exit code counts, and the result says why", (_, text) => {
    const state = play([...atWork, delivered(10), exitedWith(3, text)]);
    expect(kindOf(state)).toMatchObject({ kind: "exited", exitCode: 3 });
    expect(state.outcome?.evidence).toMatchObject({
      proof: "container-state",
      termination: null,
      output: { complete: false },
      warnings: ["the container's termination message is not signed by this run's pod and does not count"],
    });
  });

  test("that cannot be checked, because the server has another secret, counts for nothing", () => {
    const state = { ...accepted(), identity: { ...accepted().identity, records: { kind: "signed", key: null } as const } };
    expect(state.identity.records.key).not.toEqual(KEY);
    expect(kindOf(play([...atWork, exitedWith(3, message({ exitCode: 0 }))], { from: state }))).toMatchObject({ exitCode: 3 });
  });
});

describe("the output", () => {
  const end = { kind: "end-record", record: endRecord() } as const;
  const output = (...facts: Parameters<typeof play>[0]) => play([...atWork, ...facts]).outcome?.evidence.output;

  test("as the runner hashed it is complete", () => {
    expect(output(delivered(10), end)).toMatchObject({ complete: true, forged: false });
  });

  test("of the same length with other bytes is forged", () => {
    expect(output({ kind: "output", bytes: 10, sha256: sha256Of(99) }, end)).toMatchObject({ complete: false, forged: true });
  });

  test("longer than the runner wrote is forged", () => {
    expect(output(delivered(15), end)).toMatchObject({ complete: false, forged: true });
  });

  test("of which the volume lost a part is incomplete, not forged", () => {
    const lost = { kind: "end-record", record: endRecord({ bytes: 20, written: 10, error: "the volume is full" }) } as const;
    expect(output(delivered(12), lost)).toMatchObject({ complete: false, forged: false });
  });

  test("of a runner that gave no hash is judged by its length, as before", () => {
    const old = { kind: "end-record", record: { ...endRecord(), outputSha256: null } } as const;
    expect(output({ kind: "output", bytes: 10, sha256: sha256Of(99) }, old)).toMatchObject({ complete: true, forged: false });
  });
});

test("lines of others are counted in the result", () => {
  const end = { kind: "end-record", record: endRecord() } as const;
  const foreign = (count: number) => ({ kind: "foreign-records", count }) as const;
  const { outcome } = play([...atWork, foreign(1), delivered(10), foreign(2), end]);
  expect(outcome?.evidence.warnings).toEqual([
    "3 lines of /data/logs/run-1.ndjson.meta were not written by this run's pod and did not count",
  ]);
});
