import { createClock, type Timers } from "../../clock.ts";

/** A clock that stands still until it is moved on. For tests. */
export function handClock() {
  const waiting = new Set<{ readonly at: number; readonly act: () => void }>();
  let now = 0;
  let looks = 0;
  const timers: Timers = {
    now: () => {
      looks++;
      return now;
    },
    after: (ms, act) => {
      const timer = { at: now + ms, act };
      waiting.add(timer);
      return () => void waiting.delete(timer);
    },
  };
  /** Millisecond by millisecond, so that what a timer leads to comes before the next one. */
  const pass = async (ms: number): Promise<void> => {
    for (const end = now + ms; now < end; ) {
      now++;
      for (const timer of [...waiting]) {
        if (timer.at > now || !waiting.delete(timer)) continue;
        timer.act();
      }
      await Promise.resolve();
    }
  };
  /** `looks`: how often it was looked at. */
  return { clock: createClock(timers), pass, looks: () => looks };
}
