import type { Fault } from "./protocol.ts";

export type VolumeErrorCode = "volume_stalled" | "volume_missing" | "volume_denied" | "volume_full" | "volume_readonly" | "volume_failed";

/** What went wrong on the shared volume, by a code that callers may rely on. */
export class VolumeError extends Error {
  override readonly name = "VolumeError";
  readonly code: VolumeErrorCode;
  readonly path: string;
  /** The system's own code, `ENOENT` or the like; "" where the error is ours. */
  readonly errno: string;

  constructor(code: VolumeErrorCode, path: string, message: string, errno = "") {
    super(message);
    this.code = code;
    this.path = path;
    this.errno = errno;
  }
}

const codes: Readonly<Record<string, VolumeErrorCode>> = {
  ENOENT: "volume_missing",
  ENOTDIR: "volume_missing",
  EACCES: "volume_denied",
  EPERM: "volume_denied",
  ELOOP: "volume_denied",
  ENOSPC: "volume_full",
  EDQUOT: "volume_full",
  EROFS: "volume_readonly",
};

/** What a network file system answers whose server is away. */
const AWAY = new Set(["EIO", "ESTALE", "ETIMEDOUT", "EREMOTEIO", "ENOTCONN", "ECONNRESET", "EHOSTDOWN", "EHOSTUNREACH"]);

/** The volume itself is in trouble, so that waiting helps; it does not where something else stands in the file's place, or there is no right to it. */
export const mayPass = (error: unknown): boolean =>
  error instanceof VolumeError && (error.code === "volume_stalled" || AWAY.has(error.errno));

export function volumeErrorOf(fault: Fault): VolumeError {
  return new VolumeError(codes[fault.errno] ?? "volume_failed", fault.path, fault.message, fault.errno);
}
