import { sign } from "@paperclip-k8s/runner";
import { expect, test } from "vitest";
import { endRecord } from "../outcome/testing/example-facts.ts";
import { recordKey } from "../record-trust.ts";
import { findEnd } from "./read-end.ts";

const secret = Buffer.alloc(32, 3);
const owner = { run: "r1", nonce: null, secret };
const start = (nonce: string) => ({ type: "start", at: "", run: "r1", nonce, pod: "p", runtime: "node" });
const plain = (...records: object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join("");
const signed = (nonce: string, ...records: object[]): string =>
  records.map((record, n) => `${sign(JSON.stringify({ ...record, seq: n + 1 }), recordKey(secret, "r1", nonce))}\n`).join("");
const find = (text: string, who: Parameters<typeof findEnd>[1] = owner) => {
  const found = findEnd(Buffer.from(text), who);
  return found === null ? null : [found.record.exitCode, found.proved];
};

test("a signed end is proved, whatever others have added before and after it", () => {
  const text = plain(start("x"), endRecord({ exitCode: 9 })) + signed("n1", start("n1"), endRecord({ exitCode: 3 })) + plain(endRecord());
  expect(find(text)).toEqual([3, true]);
  expect(find(text, { ...owner, nonce: "n1" })).toEqual([3, true]);
});

test("without a signature, or without the secret, it is what somebody claims", () => {
  expect(find(plain(start("n1"), endRecord({ exitCode: 9 })))).toEqual([9, false]);
  expect(find(signed("n1", start("n1"), endRecord({ exitCode: 3 })), { ...owner, secret: null })).toEqual([3, false]);
  expect(find(signed("n1", start("n1"), endRecord({ exitCode: 3 })), { ...owner, secret: Buffer.alloc(32) })).toEqual([3, false]);
  expect(find(plain(start("n1")))).toBeNull();
});

test("start records that somebody has made up by the thousand do not make the reading long", () => {
  const many = plain(...Array.from({ length: 1000 }, (_, n) => start(`made-up-${n}`)));
  expect(find(many + signed("n1", start("n1"), endRecord({ exitCode: 3 })))).toEqual([3, false]);
});
