import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Pocket, startPocket } from "./index.ts";
import type { KubeObject } from "./object.ts";
import type { StatusBody } from "./status.ts";
import { call, secrets } from "./test-client.ts";

let cluster: Pocket;

beforeAll(async () => {
  cluster = await startPocket();
  cluster.createNamespace("b");
});
afterAll(() => cluster.stop());

const create = (name: string, labels: Record<string, string>, namespace: string) =>
  call(cluster, "POST", secrets(namespace), { metadata: { name, labels } });

describe("list", () => {
  const names = async (query: string, namespace = "b") => {
    const reply = await call<{ items: KubeObject[] }>(cluster, "GET", `${secrets(namespace)}?${query}`);
    return reply.body.items.map((item) => item.metadata.name);
  };
  beforeAll(async () => {
    await create("one", { color: "red" }, "b");
    await create("two", { color: "blue", big: "" }, "b");
    await create("three", {}, "b");
  });

  test.each([
    ["color=red", ["one"]],
    ["color==red", ["one"]],
    ["color!=red", ["three", "two"]],
    ["color in (red,blue)", ["one", "two"]],
    ["color notin (red)", ["three", "two"]],
    ["color,!big", ["one"]],
    ["big", ["two"]],
  ])("label selector %s", async (selector, expected) => {
    expect(await names(`labelSelector=${encodeURIComponent(selector)}`)).toEqual(expected);
  });

  test("field selectors", async () => {
    expect(await names("fieldSelector=metadata.name%3Dtwo")).toEqual(["two"]);
    expect(await names("fieldSelector=metadata.name%21%3Dtwo")).toEqual(["one", "three"]);
    const reply = await call<StatusBody>(cluster, "GET", `${secrets("b")}?fieldSelector=spec.foo%3D1`);
    expect(reply).toMatchObject({ status: 400, body: { reason: "BadRequest" } });
  });

  test("pages, and items carry no kind", async () => {
    type Page = { items: KubeObject[]; metadata: { continue?: string; remainingItemCount?: number } };
    const first = (await call<Page>(cluster, "GET", `${secrets("b")}?limit=2`)).body;
    expect(first.items.map((item) => item.metadata.name)).toEqual(["one", "three"]);
    expect(first.metadata.remainingItemCount).toBe(1);
    expect(first.items[0]).not.toHaveProperty("kind");
    const next = (await call<Page>(cluster, "GET", `${secrets("b")}?limit=2&continue=${first.metadata.continue}`)).body;
    expect(next.items.map((item) => item.metadata.name)).toEqual(["two"]);
    expect(next.metadata.continue).toBeUndefined();
  });

  test("deletecollection takes what matches", async () => {
    await create("gone-1", { gone: "1" }, "b");
    await create("gone-2", { gone: "1" }, "b");
    await call(cluster, "DELETE", `${secrets("b")}?labelSelector=gone`);
    expect(await names("labelSelector=gone")).toEqual([]);
    expect(await names("")).toEqual(["one", "three", "two"]);
  });
});
