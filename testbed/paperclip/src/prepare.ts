import { type PackedAdapters, packAdapters } from "./packages/install.ts";
import { prepareRelease, type Version } from "./server/release.ts";
import { dropRoot } from "./server/user.ts";

/** What a command does first: the releases, the packed adapters, and no root from here on. */
export async function prepare(versions: readonly Version[], say: (line: string) => void): Promise<PackedAdapters> {
  // An exit runs what cleans up; a signal alone would not.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
  for (const version of versions) await prepareRelease(version, say);
  const packed = await packAdapters(say);
  dropRoot();
  return packed;
}
