import { type PackedAdapter, packAdapter } from "./install.ts";
import { prepareRelease, type Version } from "./release.ts";
import { dropRoot } from "./user.ts";

/** What a command does first: the releases, the packed adapter (or the folder of an installed one), and no root from here on. */
export async function prepare(
  versions: readonly Version[],
  adapter: string | undefined,
  say: (line: string) => void,
): Promise<PackedAdapter> {
  // An exit runs what cleans up; a signal alone would not.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
  for (const version of versions) await prepareRelease(version, say);
  const packed = adapter === undefined ? await packAdapter("adapter-opencode", say) : { path: adapter, remove: async () => {} };
  dropRoot();
  return packed;
}
