import { LinkError } from "../../volume/child/in-folder.ts";
import type { ImportAnswer } from "../protocol.ts";

/** Why a source cannot be taken. */
export class ImportFault extends Error {
  override readonly name = "ImportFault";
  readonly kind: "unfit" | "blocked" | "stalled";

  constructor(kind: ImportFault["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** What a person with the right permissions, or with more room, can change. */
const BLOCKED: Readonly<Record<string, string>> = {
  EACCES: "not readable for the server",
  EPERM: "not readable for the server",
  ENOSPC: "no space left",
  EDQUOT: "no space left",
  EROFS: "the file system is read-only",
};

/** What stands there is nothing that can be read, now or later. */
const UNFIT = ["ELOOP", "EISDIR", "ENOTDIR", "ENXIO", "ENODEV", "ENAMETOOLONG"];

/** Any error as an answer. Of the system's own, those that are not known may pass. */
export function answerOf(error: unknown): ImportAnswer {
  if (error instanceof ImportFault) return { kind: error.kind, reason: error.message };
  // A link in the place of a folder can be replaced by the folder.
  if (error instanceof LinkError) return { kind: "blocked", reason: error.message };
  const { code = "", message = String(error), path } = error as NodeJS.ErrnoException;
  const blocked = BLOCKED[code];
  if (blocked !== undefined) return { kind: "blocked", reason: `${path ?? message}: ${blocked}` };
  const mayPass = /^E[A-Z0-9]+$/.test(code) && !UNFIT.includes(code);
  return { kind: mayPass ? "stalled" : "unfit", reason: message };
}
