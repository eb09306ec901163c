/** Attacks that still come through, with the reason: shown as skipped, never hidden. */
export const PENDING: Readonly<Record<string, string>> = {};
