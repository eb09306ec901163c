import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Followed, pauseAfter, pollInterval, TailLoop } from "./tail-loop.ts";

let loop: TailLoop<Followed>;
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "clearImmediate", "performance"] }));
afterEach(() => {
  loop?.files.clear();
  vi.useRealTimers();
});

function file(id: number, poll: (now: number, file: Followed) => void): Followed {
  const each: Followed = { id, due: 0, poll: (now) => poll(now, each) };
  return each;
}

describe("TailLoop", () => {
  it("looks often while output flows and seldom when it is quiet", () => {
    const afterGrowth = [0, 200, 400, 1000, 5000, 30_000].map((silence) => pollInterval(silence, true));
    expect(afterGrowth).toEqual([20, 20, 20, 50, 250, 250]);
  });

  it("keeps looking often for a while at a file that has never grown: its pod is starting", () => {
    const beforeGrowth = [0, 1000, 4000, 10_000, 60_000].map((silence) => pollInterval(silence, false));
    expect(beforeGrowth).toEqual([20, 20, 20, 50, 250]);
  });

  it("rests longer after a sweep that took longer, up to a second", () => {
    expect([0.5, 10, 400, 5000].map(pauseAfter)).toEqual([1, 20, 800, 1000]);
  });

  it("polls what is due and leaves the rest", () => {
    const polls = new Map<number, number>();
    loop = new TailLoop({ ready: () => true });
    for (const [id, every] of [1, 2, 3].map((id) => [id, id === 3 ? Number.POSITIVE_INFINITY : id * 40] as const)) {
      loop.add(
        file(id, (now, each) => {
          polls.set(id, (polls.get(id) ?? 0) + 1);
          each.due = now + every;
        }),
      );
    }
    vi.advanceTimersByTime(199);
    expect([...polls]).toEqual([
      [1, 5],
      [2, 3],
      [3, 1],
    ]);
  });

  it("takes at most a third of the time when polls are slow, and lets others run between slices", () => {
    let spent = 0;
    const clock = (): number => performance.now() + spent;
    loop = new TailLoop({ ready: () => true, clock });
    for (let id = 0; id < 10; id++) {
      loop.add(
        file(id, (now, each) => {
          spent += 10;
          each.due = now + 20;
        }),
      );
    }
    const spentPerTurn = new Set<number>();
    while (clock() < 3_000) {
      const before = spent;
      vi.advanceTimersToNextTimer();
      spentPerTurn.add(spent - before);
    }
    expect([...spentPerTurn].sort()).toEqual([0, 20]);
    // A third, and the slice under way.
    expect(spent).toBeLessThanOrEqual(clock() / 3 + 20);
  });

  it("waits while nothing can be sent and goes on with the next file", () => {
    const order: number[] = [];
    let ready = true;
    loop = new TailLoop({ ready: () => ready });
    for (const id of [1, 2, 3]) {
      loop.add(
        file(id, (_, each) => {
          order.push(id);
          each.due = Number.POSITIVE_INFINITY;
          if (id === 1) ready = false;
        }),
      );
    }
    vi.advanceTimersByTime(10_000);
    expect(order).toEqual([1]);
    ready = true;
    loop.resume();
    vi.advanceTimersByTime(1);
    expect(order).toEqual([1, 2, 3]);
  });

  it("polls at once what has something to read, and again when that file is due", () => {
    const polls: number[] = [];
    loop = new TailLoop({ ready: () => true });
    const each = file(1, (now, polled) => {
      polls.push(now);
      polled.due = now + 1_000;
    });
    loop.add(each);
    vi.advanceTimersByTime(500);
    const now = performance.now();
    loop.pollAt(each, now);
    expect(polls.at(-1)).toBe(now);
    loop.pollAt(each, now + 5);
    vi.advanceTimersByTime(6);
    expect(polls.length).toBe(3);
    vi.advanceTimersByTime(990);
    expect(polls.length).toBe(3);
    vi.advanceTimersByTime(20);
    expect(polls.length).toBe(4);
  });

  it("rests after polls that take long, whoever asks for more", () => {
    let spent = 0;
    const clock = (): number => performance.now() + spent;
    loop = new TailLoop({ ready: () => true, clock });
    const each = file(1, (_, polled) => {
      spent += 10;
      polled.due = Number.POSITIVE_INFINITY;
    });
    loop.add(each);
    vi.advanceTimersByTime(100);
    const before = spent;
    for (let ask = 0; ask < 5; ask++) {
      each.due = 0;
      loop.pollAt(each, clock());
    }
    expect(spent - before).toBe(10);
    vi.advanceTimersByTime(100);
    expect(spent - before).toBe(20);
  });

  it("rests after many quick polls too, so that they take a third of the time at most", () => {
    let spent = 0;
    let polls = 0;
    const clock = (): number => performance.now() + spent;
    loop = new TailLoop({ ready: () => true, clock });
    const each = file(1, (_, polled) => {
      polls++;
      spent += 0.4;
      polled.due = Number.POSITIVE_INFINITY;
    });
    loop.add(each);
    vi.advanceTimersByTime(100);
    const before = polls;
    for (let ask = 0; ask < 10; ask++) loop.pollAt(each, clock());
    // Three of them have cost 1.2 ms.
    expect(polls - before).toBe(3);
  });

  it("polls nothing while nothing can be sent", () => {
    let polls = 0;
    loop = new TailLoop({ ready: () => polls === 0 });
    const each = file(1, (_, polled) => {
      polls++;
      polled.due = Number.POSITIVE_INFINITY;
    });
    loop.add(each);
    vi.advanceTimersByTime(100);
    loop.pollAt(each, performance.now());
    expect(polls).toBe(1);
  });
});
