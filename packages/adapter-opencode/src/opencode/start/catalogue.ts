/** What the CLI's catalogue has about a provider, as far as it is needed to choose. */
export interface CatalogueEntry {
  /** Variables with its key. */
  readonly env: readonly string[];
  readonly bytes: number;
  /** Its entry as JSON, compressed. */
  readonly packed: string;
}

export type Catalogue = Readonly<Record<string, CatalogueEntry>>;

/** Half a megabyte that only runs need: it is no part of what the host imports. Null where the file is missing: then nothing is cut. */
export const loadCatalogue = (): Promise<Catalogue | null> =>
  import("../../../generated/catalogue.ts").then(
    ({ catalogue }) => catalogue,
    () => null,
  );

export async function textOf({ packed }: CatalogueEntry): Promise<string> {
  // Some milliseconds that the host's import of the adapter need not take.
  const { inflateRaw } = await import("node:zlib");
  return new Promise((resolve, reject) => {
    inflateRaw(Buffer.from(packed, "base64"), (error, text) => (error === null ? resolve(text.toString("utf8")) : reject(error)));
  });
}

/** Agents have few sets of providers; a run that lasts must not keep a text of its own. */
const MOST_KEPT = 16;
const kept = new Map<string, Promise<string>>();

/** The entries of these providers as one file for the CLI. */
export function catalogueOf(catalogue: Catalogue, ids: readonly string[]): Promise<string> {
  const key = ids.join(" ");
  const known = kept.get(key) ?? join(catalogue, ids);
  kept.delete(key);
  kept.set(key, known);
  for (const oldest of kept.keys()) if (kept.size > MOST_KEPT) kept.delete(oldest);
  return known;
}

async function join(catalogue: Catalogue, ids: readonly string[]): Promise<string> {
  const texts = await Promise.all(ids.map(async (id) => `${JSON.stringify(id)}:${await textOf(catalogue[id]!)}`));
  return `{${texts.join(",")}}`;
}
