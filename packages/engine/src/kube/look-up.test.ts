import { type Pocket, startPocket } from "@paperclip-k8s/pocket";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect } from "./connection.ts";
import { lookUp, type ObjectName } from "./look-up.ts";

let pocket: Pocket;
let now: number;
const clock = { now: () => now };
beforeEach(async () => {
  now = 0;
  pocket = await startPocket();
  pocket.createNamespace("team");
  pocket.createClaim("team", "data", pocket.dir);
  await create("secrets", "Secret", "keys");
  await create("configmaps", "ConfigMap", "settings");
});
afterEach(async () => {
  (await connect({ kubeconfig: pocket.kubeconfig })).close();
  await pocket.stop();
});

async function create(resource: string, kind: string, name: string): Promise<void> {
  const connection = await connect({ kubeconfig: pocket.kubeconfig });
  const body = { apiVersion: "v1", kind, metadata: { name } };
  await connection.request({ method: "POST", path: `/api/v1/namespaces/team/${resource}`, body });
}

const claim: ObjectName = { kind: "claim", name: "data" };
const keys: ObjectName = { kind: "secret", name: "keys" };
const settings: ObjectName = { kind: "configMap", name: "settings" };
const gone: ObjectName = { kind: "secret", name: "gone" };
const states = async (wanted: readonly ObjectName[]) =>
  (await lookUp({ kubeconfig: pocket.kubeconfig }, "team", wanted, { clock })).map(({ state }) => state);
const gets = () => pocket.requests.filter(({ verb, namespace }) => verb === "get" && namespace === "team").length;

test("what is there and what is missing, in the order of the question; of nothing, nothing is asked", async () => {
  expect(await states([claim, gone, keys, settings])).toEqual(["there", "missing", "there", "there"]);
  expect(gets()).toBe(4);
  expect(await states([])).toEqual([]);
});

test("runs share an answer for five minutes; what is missing is looked for again soon", async () => {
  await Promise.all(Array.from({ length: 10 }, () => states([keys, gone])));
  expect(gets()).toBe(2);
  now = 10_000;
  await create("secrets", "Secret", "gone");
  expect(await states([keys, gone])).toEqual(["there", "there"]);
  expect(gets()).toBe(3);
  now = 300_000;
  await states([keys]);
  expect(gets()).toBe(4);
});

test("a missing permission is no missing object, and is not asked for again at once", async () => {
  const denied = pocket.faults.deny({ verb: "get", resource: "secrets" });
  const [answer] = await lookUp({ kubeconfig: pocket.kubeconfig }, "team", [keys], { clock });
  expect(answer).toMatchObject({ state: "unseen", why: expect.stringContaining("not allowed to get secrets in namespace team") });
  expect(await states([keys, claim])).toEqual(["unseen", "there"]);
  expect(gets()).toBe(2);
  denied.undo();
});

test("an API server in trouble: not seen, and the next run asks again", async () => {
  pocket.faults.fail({ verb: "get", resource: "secrets" }, { status: 503, times: 2 });
  expect(await states([keys])).toEqual(["unseen"]);
  expect(await states([keys])).toEqual(["there"]);
});
