import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findRecordSecret, recordSecret } from "./record-secret.ts";

function place() {
  const dataPath = mkdtempSync(join(tmpdir(), "record-secret-"));
  onTestFinished(() => rmSync(dataPath, { recursive: true, force: true }));
  return { dataPath, instanceId: "default" };
}

test("the first variable that is set counts, and a program beside the server finds the same", async () => {
  const at = place();
  const env = { PAPERCLIP_K8S_RECORD_SECRET: " ", PAPERCLIP_AGENT_JWT_SECRET: "jwt", BETTER_AUTH_SECRET: "auth" };
  const bytes = await recordSecret(env, at);
  expect(await findRecordSecret({ PAPERCLIP_AGENT_JWT_SECRET: "jwt" }, null)).toEqual(bytes);
  for (const other of [{ BETTER_AUTH_SECRET: "jwt" }, { PAPERCLIP_K8S_RECORD_SECRET: "jwt" }, { PAPERCLIP_AGENT_JWT_SECRET: "other" }])
    expect(await findRecordSecret(other, null)).not.toEqual(bytes);
  // What a run is given is derived from it, and does not show it.
  expect(bytes.includes("jwt")).toBe(false);
});

test("without one, a file of the instance has it, for this server and the next", async () => {
  const at = place();
  expect(await findRecordSecret({}, at)).toBeNull();
  const bytes = await recordSecret({}, at);
  expect(bytes.length).toBe(32);
  expect(await findRecordSecret({}, at)).toEqual(bytes);
  expect(await recordSecret({}, { ...at, instanceId: "other" })).not.toEqual(bytes);
});

test("where no file can be made, no run starts until it can: nobody could check its records or restore its session later", async () => {
  const at = place();
  const inTheWay = join(at.dataPath, "instances");
  writeFileSync(inTheWay, "not a folder");
  await expect(recordSecret({}, at)).rejects.toThrow(
    /cannot be kept in .*record-secret: .* set PAPERCLIP_K8S_RECORD_SECRET in the server's environment$/,
  );
  rmSync(inTheWay);
  expect((await recordSecret({}, at)).length).toBe(32);
});
