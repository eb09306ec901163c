import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../server/release.ts";
import { serverUser } from "../server/user.ts";

/** Where the tests leave their pictures. */
export const ARTEFACTS: string = join(ROOT, "testbed/paperclip/artefacts");

/** A folder for pictures; older ones in it are replaced. It is the server's user's, whom we become before there is anything to put in it. */
export function picturesFolder(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const user = serverUser();
  if (user !== null) chownSync(folder, user.uid, user.gid);
  return folder;
}
