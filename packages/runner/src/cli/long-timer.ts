// A timer for any number of milliseconds: setTimeout fires at once beyond 2³¹.

const LONGEST = 2 ** 31 - 1;

/** Returns what cancels it. */
export function longTimer(ms: number, act: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (left: number): void => {
    timer = left > LONGEST ? setTimeout(() => arm(left - LONGEST), LONGEST) : setTimeout(act, left);
  };
  arm(ms);
  return () => clearTimeout(timer);
}
