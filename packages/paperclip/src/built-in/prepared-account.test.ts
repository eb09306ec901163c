import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hasPreparedAccount } from "./prepared-account.ts";

const managedAiConnection = { method: "subscription", identity: "i" };

test("an account that the host has prepared: the mark, and the folder that it made on the server's own disk", async () => {
  const made = mkdtempSync(join(tmpdir(), "paperclip-ai-company-"));
  const other = mkdtempSync(join(tmpdir(), "other-"));
  onTestFinished(() => {
    for (const folder of [made, other]) rmSync(folder, { recursive: true });
  });
  mkdirSync(join(made, "paperclip-ai-x"));
  writeFileSync(join(other, "file"), "");
  const link = join(other, "paperclip-ai-link");
  symlinkSync(made, link);
  const isHosts = (HOME: unknown, mark: unknown = managedAiConnection) => hasPreparedAccount({ env: { HOME }, managedAiConnection: mark });
  expect(await isHosts(made)).toBe(true);
  for (const home of [`${made}-none`, other, join(made, "paperclip-ai-x"), link, `${made}/../${other}`, undefined, 1])
    expect(await isHosts(home), String(home)).toBe(false);
  expect(await isHosts(made, "subscription")).toBe(false);
});
