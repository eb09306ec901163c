import type { Clock } from "../network-clock.ts";

/** A clock that stands still until it is moved on. For tests. */
export function handClock() {
  const timers = new Set<{ readonly at: number; readonly act: () => void }>();
  let now = 0;
  let looks = 0;
  const clock: Clock = {
    now: () => {
      looks++;
      return now;
    },
    after: (ms, act) => {
      const timer = { at: now + ms, act };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  };
  /** Millisecond by millisecond, so that what a timer leads to comes before the next one. */
  const pass = async (ms: number): Promise<void> => {
    for (const end = now + ms; now < end; ) {
      now++;
      for (const timer of [...timers]) {
        if (timer.at > now || !timers.delete(timer)) continue;
        timer.act();
      }
      await Promise.resolve();
    }
  };
  /** `looks`: how often it was looked at. */
  return { clock, pass, looks: () => looks };
}
