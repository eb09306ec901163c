import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { run } from "../run.ts";
import { databaseDir } from "./home.ts";
import { endDatabase } from "./process.ts";
import type { Version } from "./release.ts";
import { startPaperclip } from "./server.ts";
import { templateOf } from "./template.ts";

/** Has the release make its database, and keeps it as it is after an orderly end. */
export async function makeTemplate(version: Version, say: (line: string) => void): Promise<void> {
  const template = templateOf(version);
  if (existsSync(template)) return;
  say(`making the database of Paperclip ${version} (once)`);
  const host = await startPaperclip({ version });
  // Moved into place when complete.
  const partial = `${template}.partial-${process.pid}`;
  try {
    await host.end("SIGTERM");
    await endDatabase(host.home);
    await run("cp", ["-a", databaseDir(host.home), partial]);
    await rename(partial, template).catch((error: unknown) => {
      if (!existsSync(template)) throw error; // else another process was faster
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
    await host.stop();
  }
}
