// Whether the CLI's user may write to folders that came with the pod's volumes.
import { accessSync, constants, readdirSync } from "node:fs";
import { join } from "node:path";

const DENIED = new Set(["EACCES", "EPERM", "EROFS"]);

/** What keeps the user from writing there, fit for the termination message; null = nothing. What another user left there counts too. */
export function notWritable(folders: readonly string[] | undefined): string | null {
  for (const folder of folders ?? []) {
    try {
      accessSync(folder, constants.W_OK | constants.X_OK);
      // A new file system's own folder is root's, and nobody else's business.
      for (const name of readdirSync(folder)) if (name !== "lost+found") accessSync(join(folder, name), constants.W_OK);
    } catch (error) {
      const { code = "", path = folder } = error as NodeJS.ErrnoException;
      if (DENIED.has(code)) return `user ${process.getuid?.()}:${process.getgid?.()} cannot write to ${path} (${code})`;
    }
  }
  return null;
}
