import { chownSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { serverUser } from "../user.ts";

/** A new folder for pictures in the given one. It is the server's user's, whom we become before there is anything to put in it. */
export function picturesFolder(out: string): string {
  const folder = join(out, "run-page");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const user = serverUser();
  if (user !== null) chownSync(folder, user.uid, user.gid);
  return folder;
}
