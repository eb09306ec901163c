import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { databaseDir, type Home } from "./home.ts";
import { CACHE, type Version } from "./release.ts";

// To make its database and migrate it is half of what a host's first start costs. So it is done once for each release, and copied.

export const templateOf = (version: Version): string => join(CACHE, `${version}.database`);

/** A new home begins with the release's own empty database, if there is one; else the server makes it. */
export function takeTemplate(home: Home, version: Version): void {
  const template = templateOf(version);
  // Its files are the server's user's, as whom we must be to keep them so.
  if (process.getuid?.() === 0 || !existsSync(template) || existsSync(databaseDir(home))) return;
  execFileSync("cp", ["-a", template, databaseDir(home)]); // PostgreSQL wants the folder for itself, by its mode
}
