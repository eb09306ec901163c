// Sends forged wake-ups as fast as it is asked to, in a process of its own: `node flood-sender.ts <address> <port> <per second> <seconds>`.
import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";

const [address = "", port, perSecond, seconds] = process.argv.slice(2);
const BYTES = 24;
const FORGED = Array.from({ length: 64 }, () => randomBytes(BYTES));

const socket = createSocket("udp4");
// Nobody may listen at times: that is the other side's defence.
socket.on("error", () => {});
socket.connect(Number(port), address);
await once(socket, "connect");
const begun = performance.now();
const end = begun + Number(seconds) * 1000;
let sent = 0;

function batch(): void {
  const now = performance.now();
  if (now >= end) {
    process.send?.({ sent }, () => process.exit(0));
    return;
  }
  const due = ((now - begun) / 1000) * Number(perSecond);
  // Not more than the loop can hand over before it has to look at the clock again.
  for (let left = 500; sent < due && left > 0; left--) socket.send(FORGED[sent++ % FORGED.length]!, () => {});
  setImmediate(batch);
}
batch();
process.on("disconnect", () => process.exit(0));
