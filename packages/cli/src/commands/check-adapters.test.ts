import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cliNames } from "../../../adapters.ts";
import { runCommand } from "../run-command.ts";

const [CLI] = cliNames;
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "check-adapters-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function check(env: NodeJS.ProcessEnv = { PAPERCLIP_HOME: home }) {
  const said: string[] = [];
  const say = (line: string) => void said.push(line);
  const code = await runCommand(["check-adapters"], { out: say, err: say, env, stopped: new AbortController().signal, now: () => 0 });
  return { code, said: said.join("\n") };
}

const note = (...records: object[]) => writeFileSync(join(home, "adapter-plugins.json"), JSON.stringify(records));

/** A package whose entry is this program. */
function packageWith(program: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", exports: { ".": { default: "./index.js" } } }));
  writeFileSync(join(folder, "index.js"), program);
  return folder;
}
const good = (type: string) => `export const createServerAdapter = () => ({ type: "${type}" });`;

test("a server in which nothing is installed may start", async () => {
  expect(await check()).toEqual({ code: 0, said: "no adapter of ours is installed yet" });
  expect(await check({})).toMatchObject({ code: 2, said: expect.stringContaining("PAPERCLIP_HOME is not set") });
});

test("what can be loaded is named, from the image and from the host's own folder; other people's packages are not loaded", async () => {
  const localPath = packageWith(good(`${CLI}_local`), join(home, "image/in-place"));
  packageWith(good(`${CLI}_k8s`), join(home, "adapter-plugins/node_modules/own"));
  note(
    { type: `${CLI}_local`, packageName: localPath, localPath },
    { type: `${CLI}_k8s`, packageName: "own" },
    { type: "other", packageName: "gone" },
  );
  expect(await check()).toEqual({ code: 0, said: `${CLI}_local: in-place can be loaded\n${CLI}_k8s: own can be loaded` });
});

test.each([
  ["cut off in the middle", "export const createServerAdapter = () => ({", ""], // Vitest reads it instead of Node, and has other words,
  ["that needs what is not there", `import "not-there"; ${good(`${CLI}_local`)}`, "Cannot find package 'not-there'"],
  ["that is no adapter", "export const nothing = 1;", "it exports no createServerAdapter"],
  ["that throws when it is made", `export const createServerAdapter = () => { throw new Error("no volume"); };`, "no volume"],
  ["of another type", good(`${CLI}_k8s`), `it is an adapter of type ${CLI}_k8s`],
])("an adapter %s stops the start, with its reason", async (_, program, reason) => {
  const localPath = packageWith(program, join(home, "image/broken"));
  note({ type: `${CLI}_local`, packageName: localPath, localPath });
  const { code, said } = await check();
  expect(code).toBe(3);
  expect(said).toContain(`${CLI}_local: ${localPath} cannot be loaded: ${reason}`);
  expect(said).toContain("Paperclip must not start like this");
});

test("a package that is gone stops the start, and so do notes that the host could not read: it would take them for none", async () => {
  note({ type: `${CLI}_local`, packageName: "gone" });
  expect(await check()).toMatchObject({ code: 3, said: expect.stringContaining("ENOENT") });
  for (const text of ["[{", '{"type":"x"}', ""]) {
    writeFileSync(join(home, "adapter-plugins.json"), text);
    expect(await check(), text).toMatchObject({ code: 1, said: expect.stringContaining("is not the host's list of adapters") });
  }
});
