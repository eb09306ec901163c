import { createHash } from "node:crypto";

/** In hex. Not `crypto.hash`: a Node that lacks it could not even load the adapter, and so not say that it is too old. */
export const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");
