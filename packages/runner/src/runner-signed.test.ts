import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { openSigned } from "./mac.ts";
import { RUNNER_EXIT } from "./records.ts";
import { cleanUp, makeFifo, preparePod, runPod, shell } from "./testing/runner-fixture.ts";

afterAll(cleanUp);

const key = Buffer.alloc(32, 1);
const spec = { key: key.toString("base64url") };

test("every record and the termination message carry the run's MAC, and the end tells the hash of the output", async () => {
  const pod = preparePod({ argv: shell("echo one; echo two >&2; sleep 0.2; echo three; exit 3"), spec });
  const { code, rawMessage, end, message } = await pod.start().ended;
  const lines = readFileSync(pod.spec.files.meta, "utf8").trimEnd().split("\n");
  const records = lines.map((line) => JSON.parse(openSigned(Buffer.from(line), key)?.toString() ?? "null"));
  expect(records.map((record) => record?.seq)).toEqual(records.map((_, index) => index + 1));
  expect(new Set(records.map((record) => record?.type))).toEqual(new Set(["start", "cli-started", "stderr", "end"]));
  const outputSha256 = createHash("sha256").update(readFileSync(pod.spec.files.output)).digest("hex");
  expect(end).toMatchObject({ exitCode: 3, written: 10, outputSha256 });
  expect(openSigned(rawMessage ?? Buffer.alloc(0), key)).not.toBeNull();
  expect([code, message.outputSha256]).toEqual([3, outputSha256]);
});

test("so does the message of a runner that could not start the CLI", async () => {
  const pod = preparePod({
    argv: shell("echo never"),
    spec: { ...spec, files: { output: "/nowhere/o", meta: "/nowhere/m", lock: "/nowhere/l" } },
  });
  const { code, rawMessage } = await pod.start().ended;
  expect(code).toBe(RUNNER_EXIT.noOutput);
  expect(openSigned(rawMessage ?? Buffer.alloc(0), key)).not.toBeNull();
});

test("the hash is of what is on the volume, not of what the CLI wrote", async () => {
  const pod = preparePod({ argv: shell("echo one"), spec: { ...spec, drainSec: 0, waits: { openMs: 50, stallMs: 50 } } });
  makeFifo(pod.spec.files.output);
  const { message } = await pod.start().ended;
  expect(message).toMatchObject({ bytes: 4, written: 0 });
  expect(message.outputSha256 ?? createHash("sha256").digest("hex")).toBe(createHash("sha256").digest("hex"));
});

test.each(["", "short", 7])("a key like %j is refused before anything is written", async (bad) => {
  const { code, message, meta } = await runPod({ argv: shell("echo never"), spec: { key: bad as string } });
  expect([code, message.error, meta]).toEqual([RUNNER_EXIT.badSpec, "the spec's key is not one of 32 bytes in base64url", []]);
});
