import { createSocket } from "node:dgram";
import { appendFileSync, writeFileSync } from "node:fs";
import { wakeUpDatagram, wakeUpToken } from "@paperclip-k8s/runner/wake-up";
import { expect, test } from "vitest";
import { scratch, until } from "../../testing/scratch.ts";
import { FollowedFile } from "../followed-file.ts";
import { openBelow } from "../open-below.ts";
import { TailLoop } from "../tail-loop.ts";
import { FollowedRuns } from "./followed-runs.ts";
import { WakeUpReceiver } from "./receiver.ts";

// The clock stands still, so no poll but the first is ever due: only a wake-up has the file read again.

test("a wake-up has the file read that it is about", async () => {
  const folder = scratch();
  const token = wakeUpToken(Buffer.alloc(32, 1));
  const text = { output: "", meta: "" };
  const loop = new TailLoop<FollowedFile>({ ready: () => true, clock: () => 0 });
  const runs = new FollowedRuns<FollowedFile>(loop);
  const tools = { cache: { showsGrowth: true }, open: openBelow(folder.root) };
  for (const [index, kind] of (["output", "meta"] as const).entries()) {
    const path = folder.path(kind);
    writeFileSync(path, "a");
    const send = (message: { readonly type: string; readonly bytes?: Buffer }): void => {
      if (message.type === "bytes") text[kind] += message.bytes;
    };
    const open = { type: "open", id: index, path, offset: 0, expected: 0, maxBytes: 1000, unreadable: false } as const;
    loop.add(runs.follow({ token, kind }, (announcements) => new FollowedFile(open, { ready: () => true, send }, tools, 0, announcements)));
  }
  await until(() => text.output === "a" && text.meta === "a");
  const receiver = new WakeUpReceiver({ receive: (datagram) => runs.receive(datagram, 0), runs: () => runs.size, closed: () => {} });
  const { address, port } = await receiver.listen({ addresses: ["127.0.0.1"], ports: [0] });
  for (const kind of ["output", "meta"] as const) appendFileSync(folder.path(kind), "b");
  const sender = createSocket("udp4");
  sender.send(wakeUpDatagram(token, "output", 2), port, address);
  await until(() => text.output === "ab");
  expect(text.meta).toBe("a");
  sender.close();
  receiver.close();
  loop.files.clear();
  await folder.end();
});
