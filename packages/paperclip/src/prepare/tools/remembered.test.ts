import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { exampleCli } from "../../testing/example-cli.ts";

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "remembered-"));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

/** A server that has just started. */
async function server() {
  vi.resetModules();
  return import("./remembered.ts");
}

const place = (image: string, env: Record<string, string> = {}) =>
  ({ cli: exampleCli, config: { dataPath: data, instanceId: "default", env }, inherited: { image } }) as never;
const notes = () => join(data, "instances/default/k8s-adapter/images");

test("what an image lacks is known to every later run, also of another server; of other images nothing is", async () => {
  const one = await server();
  expect(await one.rememberedTools(place("jdk:25"))).toBeNull();
  await one.rememberTools(place("jdk:25"), "runtime-missing", "sha256:a");
  expect(await one.rememberedTools(place("jdk:25"))).toBe("runtime-missing");
  const next = await server();
  expect(await next.rememberedTools(place("jdk:25"))).toBe("runtime-missing");
  expect(await next.rememberedTools(place("jdk:26"))).toBeNull();
});

test("only the server can read and write it", async () => {
  await (await server()).rememberTools(place("jdk:25"), "cli-missing", null);
  expect(statSync(notes()).mode & 0o077).toBe(0);
  expect(statSync(join(notes(), readdirSync(notes())[0] ?? "")).mode & 0o077).toBe(0);
});

test("a name that means another image now is forgotten, for good", async () => {
  const one = await server();
  await one.rememberTools(place("jdk:25"), "runtime-too-old", "sha256:a");
  expect(await one.forgetChanged(place("jdk:25"), "sha256:a")).toBe(false);
  expect(await one.forgetChanged(place("jdk:25"), null)).toBe(false);
  expect(await one.forgetChanged(place("jdk:25"), "sha256:b")).toBe(true);
  expect(await one.rememberedTools(place("jdk:25"))).toBeNull();
  expect(await (await server()).rememberedTools(place("jdk:25"))).toBeNull();
});

test("an agent that hides its image's programs by a PATH of its own teaches nothing", async () => {
  const one = await server();
  await one.rememberTools(place("jdk:25", { PATH: "/nowhere" }), "runtime-missing", null);
  expect(await one.rememberedTools(place("jdk:25"))).toBeNull();
});

test("a note that cannot be read, or says nothing, is none", async () => {
  const one = await server();
  await one.rememberTools(place("jdk:25"), "runtime-missing", null);
  const file = join(notes(), readdirSync(notes())[0] ?? "");
  writeFileSync(file, Buffer.alloc(32, 200), { mode: 0o600 });
  expect(await (await server()).rememberedTools(place("jdk:25"))).toBeNull();
  rmSync(data, { recursive: true, force: true });
  expect(await (await server()).rememberedTools(place("jdk:25"))).toBeNull();
});

test("a note goes when it is old, and the image is tried again", async () => {
  await (await server()).rememberTools(place("jdk:25"), "runtime-missing", null);
  const { sweepNotes } = await import("../sweep/sweep-up.ts");
  const DAY = 86_400_000;
  const at = { dataPath: data, instanceId: "default" };
  expect((await sweepNotes(at, Date.now() + 80 * DAY)).removed).toEqual([]);
  expect((await sweepNotes(at, Date.now() + 100 * DAY)).removed).toHaveLength(1);
  expect(await (await server()).rememberedTools(place("jdk:25"))).toBeNull();
});
