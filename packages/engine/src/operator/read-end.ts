import { readFile } from "node:fs/promises";
import type { EndRecord } from "@paperclip-k8s/runner";
import { MetaReader } from "../volume/meta.ts";
import { runFiles } from "../volume/paths.ts";

/** The runner's end record beside an output file; null = there is none, or no such file is seen from here. */
export async function readEnd(
  outputPath: string,
  owner: { readonly run: string; readonly nonce: string | null },
): Promise<EndRecord | null> {
  const bytes = await readFile(runFiles(outputPath).meta).catch(() => null);
  if (bytes === null) return null;
  const reader = new MetaReader(owner);
  reader.push(bytes);
  return reader.end;
}
