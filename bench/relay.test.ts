import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { expect, test } from "vitest";
import { openRelay } from "./relay.ts";

const ADDRESS = "127.0.0.1";
const SENT = 10;

async function listener(): Promise<Socket> {
  const socket = createSocket("udp4");
  socket.bind(0, ADDRESS);
  await once(socket, "listening");
  return socket;
}

/** What arrives of numbered datagrams; a last one, sent on the direct way behind a lost or passed one, says that nothing more will come. */
async function arriving(loss: number, draws: readonly number[]): Promise<string[]> {
  const [reader, sender] = [await listener(), await listener()];
  let drawn = 0;
  const relay = await openRelay(loss, () => draws[drawn++ % draws.length]!);
  const seen: string[] = [];
  reader.on("message", (datagram) => seen.push(String(datagram)));
  const before = relay.before({ address: ADDRESS, port: reader.address().port });
  expect(before).toEqual({ address: ADDRESS, port: expect.any(Number) });
  expect(before.port).not.toBe(reader.address().port);
  for (let n = 0; n < SENT; n++) sender.send(String(n), before.port, before.address);
  // Each that the relay has got was drawn for.
  await expect.poll(() => drawn).toBe(SENT);
  sender.send("end", reader.address().port, ADDRESS);
  await expect.poll(() => seen).toContain("end");
  for (const each of [reader, sender, relay]) each.close();
  return seen.filter((text) => text !== "end");
}

test("passes on what is not lost, and loses the share that it is asked to", async () => {
  expect(await arriving(0, [0, 0.999])).toHaveLength(SENT);
  expect(await arriving(1, [0, 0.999])).toEqual([]);
  expect((await arriving(0.5, [0.2, 0.7])).sort()).toEqual(["1", "3", "5", "7", "9"]);
});

test("an address that it cannot stand before is refused", async () => {
  const relay = await openRelay(0);
  expect(() => relay.before({ address: "::1", port: 1 })).toThrow("IPv4");
  relay.close();
});
