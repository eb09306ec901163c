import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIPv4 } from "node:net";
import type { Address } from "./protocol.ts";

export interface Relay {
  /** What stands before an address: runners get this one. */
  before(own: Address): Address;
  close(): void;
}

/** Datagrams take this way and get lost on it at random, as on a bad network. */
export async function openRelay(loss: number, random: () => number = Math.random): Promise<Relay> {
  const socket = createSocket("udp4");
  let behind: Address | null = null;
  socket.on("message", (datagram) => {
    if (behind !== null && random() >= loss) socket.send(datagram, behind.port, behind.address);
  });
  // Nobody listens for a moment while the reader is started again.
  socket.on("error", () => {});
  socket.bind(0);
  await once(socket, "listening");
  socket.unref();
  return {
    before: (own) => {
      if (!isIPv4(own.address)) throw new Error(`the relay of wake-ups is for IPv4, not for ${own.address}`);
      behind = own;
      return { address: own.address, port: socket.address().port };
    },
    close: () => socket.close(),
  };
}
