import type { Bed } from "../../testbed/suite/src/bed.ts";
import { ms, type Row } from "../figures.ts";
import type { Host } from "../host.ts";

/** How long until the log says which image cannot be had. */
export async function measureMissingImage(host: Host, bed: Bed): Promise<Row[]> {
  const image = bed.images.missing;
  const record = await host.run({ kind: "flow", lines: 1, everyMs: 1 }, { config: { image }, until: image });
  const named = record.log.find(({ text }) => text.includes(image));
  const took = named === undefined ? Number.POSITIVE_INFINITY : named.at - record.calledAt;
  return [{ what: "image that does not exist → named in the log", budget: "3,000 ms", measured: ms(took), ok: took <= 3_000 }];
}
