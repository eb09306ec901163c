// How a line is signed: its last field is a MAC of all bytes before that field. It takes the run's key to make one.
import { createHmac, timingSafeEqual } from "node:crypto";

const BEFORE = ',"mac":"';
const AFTER = '"}';
/** Length of an HMAC-SHA256 in base64url. */
const MAC_LENGTH = 43;
const SUFFIX_LENGTH = BEFORE.length + MAC_LENGTH + AFTER.length;
/** What signing adds to a line. */
export const MAC_BYTES: number = SUFFIX_LENGTH - "}".length;

/** Adds the MAC to the JSON of an object that has at least one field. */
export function sign(json: string, key: Uint8Array): string {
  const body = json.slice(0, -1);
  return `${body}${BEFORE}${macOf(body, key)}${AFTER}`;
}

/** The JSON as it was before it was signed; null = it was not signed with this key. */
export function openSigned(line: Buffer, key: Uint8Array): Buffer | null {
  const end = line.length - SUFFIX_LENGTH;
  if (end < 1) return null;
  const body = line.subarray(0, end);
  // A cheap check first: most lines of others have nothing that looks like a MAC.
  if (line.toString("latin1", end, end + BEFORE.length) !== BEFORE) return null;
  const expected = Buffer.from(`${BEFORE}${macOf(body, key)}${AFTER}`);
  return timingSafeEqual(line.subarray(end), expected) ? Buffer.concat([body, Buffer.from("}")]) : null;
}

const macOf = (body: string | Buffer, key: Uint8Array): string => createHmac("sha256", key).update(body).digest("base64url");
