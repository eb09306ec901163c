import { lstat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname } from "node:path";
import { isRecord, textOf } from "../host/context-values.ts";
import type { Raw } from "../settings/field.ts";
import { accountOf } from "./account.ts";

/** Of the folder that the host makes in the server's own temporary one. */
const FOLDER_PREFIX = "paperclip-ai-";

/**
 * Whether the host has prepared the account for this run: an agent can write the mark and a HOME into its own settings, but make no folder
 * on the server.
 */
export async function hasPreparedAccount(raw: Raw): Promise<boolean> {
  const home = isRecord(raw.env) ? textOf(raw.env.HOME) : null;
  if (accountOf(raw) === null || home === null) return false;
  if (dirname(home) !== tmpdir() || !basename(home).startsWith(FOLDER_PREFIX)) return false;
  return lstat(home).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
