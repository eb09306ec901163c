import type { Bed } from "../../testbed/suite/src/bed.ts";
import { BUDGETS } from "../budgets.ts";
import { ms, type Row } from "../figures.ts";
import type { Host } from "../host.ts";
import { ONE_LINE } from "../stamp.ts";

/** How long until the log says which image cannot be had. */
export async function measureMissingImage(host: Host, bed: Bed): Promise<Row[]> {
  const image = bed.images.missing;
  const record = await host.run(ONE_LINE, { config: { image }, until: image });
  const named = record.log.find(({ text }) => text.includes(image));
  const took = named === undefined ? Number.POSITIVE_INFINITY : named.at - record.calledAt;
  return [
    {
      what: "image that does not exist → named in the log",
      budget: ms(BUDGETS.missingImage),
      measured: ms(took),
      ok: took <= BUDGETS.missingImage,
    },
  ];
}
