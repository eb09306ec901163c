import { expect, test } from "vitest";
import type { ListenOptions } from "../volume/protocol.ts";
import { listenOptions, wakeUpAddress } from "./wake-up-address.ts";

const recordSecret = Buffer.from("secret");
const connection = { localAddress: "10.0.0.9" };
/** Binds the last address, as a machine that does not have the first one. */
const volume = { listen: async ({ addresses }: ListenOptions) => ({ address: addresses.at(-1) ?? "", port: 5000 }) };

test("the address of the connection to the API server, and any port", () => {
  expect(listenOptions("10.0.0.9", undefined)).toEqual({ addresses: ["10.0.0.9"], ports: [0] });
  expect(listenOptions("::ffff:10.0.0.9", undefined).addresses).toEqual(["10.0.0.9"]);
  expect(listenOptions("fd00::9", undefined).addresses).toEqual(["fd00::9"]);
  for (const unusable of [null, "fe80::1%eth0", ""]) expect(listenOptions(unusable, undefined).addresses).toEqual([]);
});

test("the operator's address and ports come first", () => {
  const { addresses, ports } = listenOptions("10.0.0.9", { address: "192.0.2.7", port: 65_530 });
  expect([addresses, ports]).toEqual([
    ["192.0.2.7", "10.0.0.9"],
    [65_530, 65_531, 65_532, 65_533, 65_534, 65_535],
  ]);
});

test("runners get the operator's address, also where it is none of this machine's", async () => {
  const request = { recordSecret, wakeUps: { address: "192.0.2.7" } };
  expect(await wakeUpAddress({ request, connection, volume })).toEqual({ address: "192.0.2.7", port: 5000 });
  const change = ({ port }: { port: number }) => ({ address: "10.9.9.9", port: port + 1 });
  expect(await wakeUpAddress({ request: { recordSecret }, connection, volume, change })).toEqual({ address: "10.9.9.9", port: 5001 });
});

test("none where they are off, where nothing is signed, or where nobody can listen", async () => {
  expect(await wakeUpAddress({ request: { recordSecret, wakeUps: "off" }, connection, volume })).toBeNull();
  expect(await wakeUpAddress({ request: {}, connection, volume })).toBeNull();
  expect(await wakeUpAddress({ request: { recordSecret }, connection: { localAddress: null }, volume })).toBeNull();
  const failing = { listen: () => Promise.reject(new Error("stalled")) };
  expect(await wakeUpAddress({ request: { recordSecret }, connection, volume: failing })).toBeNull();
});
