import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { readWakeUp, readWakeUpAddress, wakeUpDatagram, wakeUpId, wakeUpToken } from "./datagram.ts";

const token = wakeUpToken(Buffer.alloc(32, 1));

test("says which file of which run is how long, and nothing of the key", () => {
  const datagram = wakeUpDatagram(token, "output", 2 ** 40 + 5);
  expect(readWakeUp(datagram)).toEqual({ id: wakeUpId(token, "output"), size: 2 ** 40 + 5 });
  expect(wakeUpId(token, "meta")).not.toBe(wakeUpId(token, "output"));
  expect(wakeUpToken(Buffer.alloc(32, 2))).not.toEqual(token);
  expect(token.length).toBe(16);
});

test("what is no wake-up is none, whatever it is", () => {
  const datagram = wakeUpDatagram(token, "meta", 1);
  for (const bytes of [Buffer.alloc(0), datagram.subarray(1), Buffer.concat([datagram, Buffer.of(0)]), randomBytes(65_507)])
    expect(readWakeUp(bytes)).toBeNull();
});

test("an address is one that needs no look-up, with a port", () => {
  expect(readWakeUpAddress('{"address":"10.0.0.1","port":4000}')).toEqual({ address: "10.0.0.1", port: 4000 });
  expect(readWakeUpAddress('{"address":"fd00::1","port":4000,"more":1}')).toEqual({ address: "fd00::1", port: 4000 });
  for (const text of [
    null,
    "",
    "null",
    "{}",
    "[",
    '{"address":"host.example","port":1}',
    '{"address":"10.0.0.1","port":0}',
    '{"address":1,"port":1}',
    "7",
  ])
    expect(readWakeUpAddress(text)).toBeNull();
});
