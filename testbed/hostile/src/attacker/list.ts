import type { Attacks } from "./attack.ts";
import { environment } from "./environment.ts";
import { log } from "./log.ts";
import { operator } from "./operator.ts";
import { otherRecords } from "./other-records.ts";
import { ownFiles } from "./own-files.ts";
import { ownRecords } from "./own-records.ts";
import { processes } from "./processes.ts";
import { relay } from "./relay.ts";
import { sessions } from "./sessions.ts";
import { termination } from "./termination.ts";
import { volume } from "./volume.ts";

/** Every attack that a pod can carry out, by its id. */
export const ATTACKS: Attacks = {
  ...volume,
  ...environment,
  ...relay,
  ...termination,
  ...ownRecords,
  ...ownFiles,
  ...processes,
  ...log,
  ...otherRecords,
  ...sessions,
  ...operator,
};
