/** What becomes of something that looks left over. Null instead of this: nothing to say about it. */
export interface Judged {
  /** `over`: provably nobody needs it. `unproved`: it is told, and stays. */
  readonly state: "over" | "unproved";
  readonly why: string;
}

export const over = (why: string): Judged => ({ state: "over", why });
export const unproved = (why: string): Judged => ({ state: "unproved", why });

/** How old something must be, and what time it is. */
export interface Span {
  readonly olderThanSec: number;
  readonly now: number;
}

/** What has no time is never old. */
export const isOld = (since: string | null, { olderThanSec, now }: Span): boolean => now - Date.parse(since ?? "") >= olderThanSec * 1000;
