import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { RunRequest } from "@paperclip-k8s/engine";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { relayTo } from "./relay-request.ts";
import { type RunOptions, startRun } from "./run.ts";

// An agent that is taken over acts under the name of the run that took it, without knowing.

let bed: Bed;
let api: Server;
const seen: { readonly token: string; readonly runId: string }[] = [];

beforeAll(async () => {
  bed = await startBed();
  api = createServer((request, response) => {
    const { authorization = "", "x-run-id": runId = "" } = request.headers;
    seen.push({ token: authorization.replace("Bearer ", ""), runId: String(runId) });
    response.end("{}");
  });
  await new Promise<void>((resolve) => api.listen(0, bed.hostAddress, resolve));
});
afterEach(async () => {
  await calm(bed);
  seen.length = 0;
});
afterAll(async () => {
  api.close();
  await bed.stop();
});

const CALLING = `console.log("on"); setInterval(() => fetch(process.env.API_URL + "/x", { headers: {
  authorization: "Bearer " + process.env.API_TOKEN, "x-run-id": process.env.RUN_ID } }).catch(() => {}), 100)`;

function relayed(request: RunRequest): RunRequest {
  const token = `token-of-${request.runId}`;
  return {
    ...request,
    exclusive: "relayed",
    name: { prefix: "suite-", parts: ["relayed"], identity: "relayed" },
    env: { plain: { RUN_ID: request.runId }, secret: { API_TOKEN: token }, references: [] },
    relay: relayTo(`http://${bed.hostAddress}:${(api.address() as AddressInfo).port}`, request, token),
  };
}

test("the token changes with the owner", async () => {
  const options: RunOptions = { script: CALLING, change: relayed, onLockConflict: async () => ({ kind: "adopt" }) };
  const first = startRun(bed, options);
  await first.saw("on\n");
  await expect.poll(() => seen.length).toBeGreaterThan(2);
  expect(new Set(seen.map(({ token, runId }) => `${token} ${runId}`))).toEqual(
    new Set([`token-of-${first.request.runId} ${first.request.runId}`]),
  );
  const second = startRun(bed, options);
  const { runId } = second.request;
  await second.saw("on\n");
  await expect.poll(() => seen.at(-1)).toMatchObject({ token: `token-of-${runId}`, runId });
  second.cancel();
  expect((await second.done).outcome).toMatchObject({ kind: "cancelled", stopped: true });
  expect((await first.done).outcome).toMatchObject({ kind: "superseded" });
});
