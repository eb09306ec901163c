const RECORDS = "records are not signed yet";
const SCOPE = "pods still mount the whole volume";

/** Attacks that still come through, with the reason: shown as skipped, never hidden. */
export const PENDING: Readonly<Record<string, string>> = {
  "volume/list-companies": SCOPE,
  "volume/other-workspace": SCOPE,
  "volume/other-company": SCOPE,
  "volume/write-other-workspace": SCOPE,
  "volume/other-instructions": SCOPE,
  "volume/database": SCOPE,
  "volume/config": SCOPE,
  "volume/master-key": SCOPE,
  "volume/plugins": SCOPE,
  "volume/other-output": SCOPE,
  "volume/other-session": SCOPE,
  "volume/hard-link": SCOPE,
  "volume/dot-dot": SCOPE,
  "volume/link-out": SCOPE,
  "volume/seed": "homes are still seeded from the volume",
  "own-records/note-escapes": RECORDS,
  "own-records/stderr-prefix": RECORDS,
  "own-records/other-start": RECORDS,
};
