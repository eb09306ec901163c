import { expect, test } from "vitest";
import { openNote, recordKey, signNote, stateKey, trustOf } from "./record-trust.ts";

const secret = Buffer.alloc(32, 1);
const run = { firstRun: "r1", nonce: "n1" };

test("each run has a key of its own, which everybody who has the secret derives again", () => {
  const keys = [
    recordKey(secret, "r1", "n1"),
    recordKey(secret, "r1", "n2"),
    recordKey(secret, "r2", "n1"),
    recordKey(Buffer.alloc(32), "r1", "n1"),
  ];
  expect(new Set(keys.map(String)).size).toBe(keys.length);
  expect(recordKey(Buffer.from(secret), "r1", "n1")).toEqual(keys[0]);
  // The parts cannot be shifted into one another.
  expect(recordKey(secret, "r1\0n", "1")).not.toEqual(recordKey(secret, "r1", "n\x001"));
  expect(stateKey(secret, "/data/a")).not.toBe(stateKey(secret, "/data/b"));
});

test("the Job says whether its records are signed; what cannot be checked counts for nothing, and is never taken for unsigned", () => {
  expect(trustOf(undefined, secret, run)).toEqual({ kind: "unsigned" });
  expect(trustOf("hmac-1", secret, run)).toEqual({ kind: "signed", key: recordKey(secret, "r1", "n1") });
  for (const [format, given] of [
    ["hmac-1", null],
    ["hmac-1", undefined],
    ["hmac-2", secret],
    ["", secret],
  ] as const)
    expect(trustOf(format, given, run)).toEqual({ kind: "signed", key: null });
});

test("a note is read by the server's own secret, and for what it was written", () => {
  const [secret, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const text = Buffer.from(signNote(secret, "/data/a", { namespace: "n" }));
  expect(openNote(secret, "/data/a", text)).toBe('{"namespace":"n"}');
  for (const [key, about, said] of [
    [other, "/data/a", text],
    [secret, "/data/b", text],
    [secret, "/data/a", Buffer.from('{"namespace":"n"}')],
    [secret, "/data/a", Buffer.from("")],
  ] as const)
    expect(openNote(key, about, said)).toBeNull();
});
