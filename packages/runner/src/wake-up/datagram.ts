// A wake-up: one small datagram that tells the reader of a run's files how long one of them is now. It is a hint: losing each of them costs time only.
import { createHmac } from "node:crypto";
import { isIP } from "node:net";

/** Which file of the run has grown. */
export type WakeUpKind = "output" | "meta";

/** Where wake-ups are sent: an address, never a name. */
export interface WakeUpAddress {
  readonly address: string;
  readonly port: number;
}

/** File of the run's Secret with a `WakeUpAddress`; another server that adopts the Job changes it. */
export const WAKE_UP_FILE = "wake-up.json";

/** The first byte has the format in its upper half and the kind in its lower one. */
const FIRST_BYTE = { output: 0x11, meta: 0x12 } as const;
const TOKEN_BYTES = 16;
const SIZE_BYTES = 6;
const SIZE_AT: number = 1 + TOKEN_BYTES;
const LENGTH: number = SIZE_AT + SIZE_BYTES;
const MAX_SIZE = 2 ** (8 * SIZE_BYTES) - 1;

/** Says whose files are meant. It cannot be made without the run's key, and tells nothing of it. */
export function wakeUpToken(key: Uint8Array): Buffer {
  return createHmac("sha256", key).update("wake-up").digest().subarray(0, TOKEN_BYTES);
}

export function wakeUpDatagram(token: Uint8Array, kind: WakeUpKind, size: number): Buffer {
  const bytes = Buffer.alloc(LENGTH);
  bytes[0] = FIRST_BYTE[kind];
  bytes.set(token, 1);
  bytes.writeUIntBE(Math.min(size, MAX_SIZE), SIZE_AT, SIZE_BYTES);
  return bytes;
}

/** Kind and token of a file as one text, under which a reader finds it. */
export const wakeUpId = (token: Uint8Array, kind: WakeUpKind): string => wakeUpDatagram(token, kind, 0).toString("latin1", 0, SIZE_AT);

/** Null = no wake-up of this format. Anybody may have sent it. */
export function readWakeUp(datagram: Buffer): { readonly id: string; readonly size: number } | null {
  if (datagram.length !== LENGTH) return null;
  return { id: datagram.toString("latin1", 0, SIZE_AT), size: datagram.readUIntBE(SIZE_AT, SIZE_BYTES) };
}

/** Null = it is no address: wake-ups are not wanted, or a later version says it in another way. */
export function readWakeUpAddress(text: string | null): WakeUpAddress | null {
  try {
    const { address, port } = JSON.parse(text ?? "null") as Partial<WakeUpAddress>;
    if (typeof address !== "string" || isIP(address) === 0) return null;
    return Number.isInteger(port) && port !== undefined && port > 0 && port < 65_536 ? { address, port } : null;
  } catch {
    return null;
  }
}
