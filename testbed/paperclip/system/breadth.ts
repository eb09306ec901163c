import { VERSIONS, type Version } from "../src/server/release.ts";

/** Every test on both hosts, with full counts; else the elder host shows what differs there, and one of each kind. */
export const LONG = Boolean(process.env.LONG);
export const [NEWEST, ELDER] = VERSIONS;
/** Where that runs which shows the same on either host. */
export const HOSTS: readonly Version[] = LONG ? VERSIONS : [NEWEST];
