// Archives as somebody who can write into the `saved` folder could make them, and one that an earlier version made. For tests.
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { encodeManifest } from "../manifest.ts";
import { BLOCK, padding, tarHeader } from "../tar-header.ts";
import { trailer } from "../trailer.ts";

export interface Forged {
  readonly path: string;
  readonly content?: string;
  readonly kind?: "file" | "folder";
  /** Instead of what an honest manifest says of it. */
  readonly listed?: Readonly<Record<string, unknown>>;
  /** Instead of its tar header; the content follows as it is. */
  readonly header?: Buffer;
  readonly isListed?: boolean;
}

export const KEY = Buffer.alloc(32, 7).toString("base64url");

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Puts it in force in the folder; its manifest has a right checksum, and a MAC where a key is given. */
export function forge(saved: string, members: readonly Forged[], manifest: Readonly<Record<string, unknown>> = {}, key?: string): void {
  const blocks = members.map(({ path, content = "", kind = "file", header }) =>
    Buffer.concat([
      header ?? tarHeader({ path: `home/${path}`, kind, size: content.length, mode: 0o600, mtimeMs: 0 }),
      Buffer.from(content),
      Buffer.alloc(padding(content.length)),
    ]),
  );
  const entries = members
    .filter(({ isListed = true }) => isListed)
    .map(({ path, content = "", kind = "file", listed }) => {
      const sum = kind === "file" ? sha256(content) : "";
      return { path, kind, size: content.length, mode: 0o600, mtimeMs: 1_700_000_000_000, sha256: sum, ...listed };
    });
  const bytes = entries.reduce((sum, { size }) => sum + Number(size), 0);
  const whole = { format: 1, run: "r", at: "2026-01-01T00:00:00.000Z", version: null, bytes, entries, ...manifest };
  const text = encodeManifest(whole as unknown as Parameters<typeof encodeManifest>[0], key);
  const at = blocks.reduce((sum, { length }) => sum + length, 0);
  const member = tarHeader({ path: "manifest", kind: "file", size: text.length, mode: 0o644, mtimeMs: 0 });
  put(saved, Buffer.concat([...blocks, member, text, Buffer.alloc(padding(text.length) + 2 * BLOCK), trailer(at)]));
}

export const NAME = "20260101T000000000Z-00000001-00000001.tar";

export function put(saved: string, archive: Buffer): void {
  writeFileSync(join(saved, NAME), archive);
  writeFileSync(join(saved, "current"), JSON.stringify({ format: 1, current: NAME, previous: null }));
}

/** Saved by version 558ef5c: `data/files/turns` ("one"), and a file with a long name in `data/files/sub`. */
export const earlierArchive = (): Buffer =>
  gunzipSync(
    Buffer.from(
      "H4sICG1p+moCAzIwMjYxMTE2VDAyMjQ0NTU0MlotMDAwMDAwMDEtYjU0ZTQ3ZmYudGFyAO2YzY7TMBDHc96nqHzuh2c8/kglHoEbJxAHO7ZpRJOgJEXAqu+O00NZyhb2klZi/TskjmM7M5n87XF2XRM23o52E+t9GDbFDPCElvJ0TlyeT2UgiaQ1p6keUnMsFrK4AYdhtH0ypXid7C7iPxzc5v7xB0kix/8WfLHjbu5nTAFWf8b9HH9E9Xv8udJKFYtvOf6zA5Ivpm/gzXMTgb0TD0XmRgwhrOaeA/6lfw54oX9NCMWCZ/3Pzr5rPy1a24SsuZz/pWl/PPTtMIf+if6S/9FF/oecMOv/FnRtVv5rprFtHcMwzr7+X9c/EEHKQ1ErUiRP+0QtFc/6vwWPLHZ9Y0e2hSXrDy3bTscVsCWbKhlyVCuAFah3HLdIW5JrSfg+3f8a+qHuph6w5mueatz3MQxpJFqy0I59PV18eGRTfpla/VplUtPPdetTXez2PvTpeqh/BLblS9Z0PhWoFKk41k14Ow2on/wqSG13FqVKvdlx+czo09Zl/ifcbXP0xLVky9kxOHsmDL3AM0CNlkqjTEWAigvBq6BIxBJ8jB4AyLoKyUWg0kdHwUVnjBDOBak0v/JmTvnDFRPp/O6Rv8BCrIzjxluZ7OKiNAEilDbyIH1VVZrIR9TkDCqbTDIyWGeTNxIlCTJcsePH4wPoWNoKXFVCpUM0FLkKpnJCWIUQqUKnITgdjRcy9Y1W2CBl9KUtOUefF8dMJvO/8hOzK8ZeABoAAA==",
      "base64",
    ),
  );
