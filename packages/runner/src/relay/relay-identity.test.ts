import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { cleanUp, node, preparePod } from "../testing/runner-fixture.ts";
import {
  ask,
  CONFLICT,
  closeTargets,
  FIRST,
  type Handler,
  own,
  RUNTIMES,
  relaySpec,
  SECOND,
  startRelayedPod,
  startTarget,
  swapCredentials,
} from "./testing/relay-fixture.ts";

afterAll(() => {
  cleanUp();
  closeTargets();
});

const echo: Handler = ({ headers }, response) => {
  response.end(JSON.stringify([headers.authorization ?? null, headers["x-run-id"] ?? null]));
};
const asFirst = ["Bearer token-1", "run-1"];
const asSecond = ["Bearer token-2", "run-2"];

describe.concurrent.each(RUNTIMES)("whom a request acts as, under %s", (_, runtime) => {
  test("the run of the mounted Secret, also when that is swapped in the middle of the run", async () => {
    const target = await startTarget(echo);
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    const asks = async (headers: Record<string, string>) => JSON.parse((await ask(`${relayed.url}/x`, { headers })).text) as unknown;
    expect(await asks(own)).toEqual(asFirst);
    swapCredentials(relayed.pod, SECOND);
    expect(await asks(own)).toEqual(asSecond);
    expect(await asks({ ...own, "x-run-id": FIRST.runId })).toEqual(asSecond);
    expect(await asks({ AUTHORIZATION: "bearer token-2" })).toEqual(asSecond);
    const { ended, notes } = await relayed.end();
    expect(notes).toEqual(["now acting as run run-2"]);
    expect(ended.code).toBe(143);
    expect(ended.meta.map((record) => record.type)).toEqual(["start", "cli-started", "note", "end"]);
    expect(JSON.stringify(ended.meta) + ended.stderr + ended.rawMessage).not.toContain("token-");
  });

  test("nobody else: other credentials and none are passed on as they are", async () => {
    const target = await startTarget(echo);
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    const cases: Record<string, string>[] = [
      {},
      { "x-run-id": "run-9" },
      { authorization: "Bearer token-9", "x-run-id": "run-9" },
      { authorization: "Basic token-1" },
      { authorization: "Bearer " },
      { authorization: "Bearer token-1 x" },
      { cookie: "token=token-1" },
    ];
    for (const headers of cases) {
      const { text } = await ask(`${relayed.url}/x`, { headers });
      expect(JSON.parse(text), JSON.stringify(headers)).toEqual([headers.authorization?.trim() ?? null, headers["x-run-id"] ?? null]);
    }
    await relayed.end();
  });

  test("further headers of the run: replaced where a request shows one, also the value that the CLI was started with", async () => {
    const target = await startTarget(({ headers }, response) => response.end(JSON.stringify(headers["x-permit"] ?? null)));
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    const permitFor = async (headers: Record<string, string>) =>
      JSON.parse((await ask(`${relayed.url}/x`, { method: "POST", headers })).text) as unknown;
    const shown = { ...own, "X-PERMIT": "permit-1" };
    expect(await permitFor(shown)).toBe("permit-1");
    swapCredentials(relayed.pod, { ...SECOND, headers: { "x-permit": "permit-2", "bad name": "x", "x-bad": "a\r\nb" } });
    expect(await permitFor(shown)).toBe("permit-2");
    expect(await permitFor({ ...shown, "x-bad": "as it is" })).toBe("permit-2");
    expect(target.deliveries.at(-1)?.headers["x-bad"]).toBe("as it is");
    expect(await permitFor(own)).toBeNull();
    expect(await permitFor({ "x-permit": "permit-1" })).toBe("permit-1");
    // The run that takes over may have none.
    swapCredentials(relayed.pod, { token: "token-3", runId: "run-3" });
    expect(await permitFor(shown)).toBe("permit-1");
    const { ended } = await relayed.end();
    expect(JSON.stringify(ended.meta) + ended.stderr + ended.rawMessage).not.toContain("permit-");
  });

  test("credentials that cannot be used change nothing", async () => {
    const target = await startTarget(echo);
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    for (const text of ["", "{", "null", '{"token":"a\\r\\nX: y","runId":"r"}', '{"token":"token-2"}']) {
      swapCredentials(relayed.pod, text);
      expect(JSON.parse((await ask(`${relayed.url}/x`)).text)).toEqual(asFirst);
    }
    swapCredentials(relayed.pod, SECOND);
    expect(JSON.parse((await ask(`${relayed.url}/x`)).text)).toEqual(asSecond);
    expect((await relayed.end()).notes).toHaveLength(1);
  });

  test("a conflict of ownership is asked again until the swap, then accepted", async () => {
    const target = await startTarget(({ headers }, response) => {
      if (target.deliveries.length === 3) swapCredentials(relayed.pod, SECOND);
      response.statusCode = headers["x-run-id"] === "run-2" ? 200 : 409;
      response.end(response.statusCode === 200 ? "done" : CONFLICT);
    });
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    const answer = await ask(`${relayed.url}/x`, { method: "PATCH", body: '{"a":1}' });
    expect(answer).toMatchObject({ status: 200, text: "done" });
    expect(target.deliveries.map(({ method, body }) => `${method} ${body}`)).toEqual(Array(4).fill('PATCH {"a":1}'));
    const { notes } = await relayed.end();
    expect(notes).toEqual(["now acting as run run-2", "relay: 3 answers of conflict were not passed on but the request sent again"]);
  });
});

test("the CLI's own requests, through its environment", async () => {
  const target = await startTarget(echo);
  const script = `fetch(process.env.API_URL + "/x", { headers: { authorization: "Bearer " + process.env.API_TOKEN } }).then((r) => r.text()).then((t) => process.stdout.write(t))`;
  const spec = { relay: relaySpec(target.url), env: { API_TOKEN: FIRST.token } };
  const pod = preparePod({ argv: node(script), spec, files: { "credentials.json": JSON.stringify(SECOND) } });
  expect(await pod.start().ended).toMatchObject({ code: 0 });
  expect(JSON.parse(readFileSync(join(pod.spec.files.output), "utf8"))).toEqual(asSecond);
});
