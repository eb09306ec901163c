import type { Socket } from "node:dgram";
import type { WakeUpAddress } from "@paperclip-k8s/runner/wake-up";
import type { ListenOptions } from "../../protocol.ts";
import { FloodGuard } from "./flood-guard.ts";

/** Some hundred datagrams: of a flood no more than that waits. */
const bufferBytes = 128 * 1024;

interface ReceiverEvents {
  /** False = it is of no run that is followed. */
  readonly receive: (datagram: Buffer, now: number) => boolean;
  /** How many runs are followed. */
  readonly runs: () => number;
  /** Nobody listens from now on, for so long. `first`: of a row of such pauses. */
  readonly closed: (at: WakeUpAddress, ms: number, first: boolean) => void;
}

/** Takes wake-ups at one address. In a flood it does not listen at all, so that the kernel drops what comes. */
export class WakeUpReceiver {
  readonly #events: ReceiverEvents;
  readonly #guard = new FloodGuard();
  #socket: Socket | null = null;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(events: ReceiverEvents) {
    this.#events = events;
  }

  /** Binds the first address and port of the options that is free; rejects when none is. */
  async listen({ addresses, ports }: ListenOptions): Promise<WakeUpAddress> {
    let last: unknown = new Error("no address to listen at");
    for (const address of addresses) {
      for (const port of ports) {
        try {
          return await this.#open(address, port);
        } catch (error) {
          last = error;
          // Another port of it would fail as well.
          if ((error as NodeJS.ErrnoException).code === "EADDRNOTAVAIL") break;
        }
      }
    }
    throw last;
  }

  close(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
    this.#socket = null;
  }

  async #open(address: string, port: number): Promise<WakeUpAddress> {
    const { createSocket } = await import("node:dgram");
    const family = address.includes(":") ? 6 : 4;
    const socket = createSocket({
      type: `udp${family}`,
      lookup: (_, __, done) => done(null, address, family),
      recvBufferSize: bufferBytes,
    });
    const bound = await new Promise<WakeUpAddress>((resolve, reject) => {
      socket.once("error", (error) => {
        socket.close();
        reject(error);
      });
      socket.bind({ address, port }, () => resolve({ address, port: socket.address().port }));
    });
    if (this.#ended) {
      socket.close();
      return bound;
    }
    // What is wrong with one datagram is no reason not to take the next.
    socket.removeAllListeners("error").on("error", () => {});
    socket.on("message", (datagram) => this.#take(socket, datagram, bound));
    this.#socket = socket;
    this.#guard.opened(performance.now());
    return bound;
  }

  #take(socket: Socket, datagram: Buffer, bound: WakeUpAddress): void {
    if (this.#socket !== socket) return;
    const now = performance.now();
    const known = this.#events.receive(datagram, now);
    if (!this.#guard.count(known, this.#events.runs(), now)) return;
    this.#socket = null;
    socket.close();
    this.#pause(bound);
  }

  #pause(bound: WakeUpAddress): void {
    const { ms, first } = this.#guard.pause(performance.now());
    this.#events.closed(bound, ms, first);
    this.#timer = setTimeout(() => {
      // Somebody else may have the port by now, and give it back.
      this.#open(bound.address, bound.port).catch(() => this.#pause(bound));
    }, ms);
  }
}
