import { afterAll, expect, test } from "vitest";
import { cleanUp } from "../testing/runner-fixture.ts";
import { type Answer, ask, CONFLICT, closeTargets, RUNTIMES, relaySpec, startRelayedPod, startTarget } from "./testing/relay-fixture.ts";

afterAll(() => {
  cleanUp();
  closeTargets();
});

type Act = "answer" | "conflict" | "other-409" | "error" | "reset" | "end" | "cut" | "slow";
const ACTS: readonly Act[] = ["answer", "conflict", "conflict", "other-409", "error", "reset", "end", "cut", "slow"];

/** Repeatable by its seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test.each(RUNTIMES)("nothing is delivered twice unless it was answered with the conflict, under %s", async (_, runtime) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1e6);
  const next = random(seed);
  const told = new Map<string, Act[]>();
  const target = await startTarget(({ path }, response) => {
    const act = ACTS[Math.floor(next() * ACTS.length)]!;
    told.set(path, [...(told.get(path) ?? []), act]);
    if (act === "reset") response.socket?.resetAndDestroy();
    else if (act === "end") response.socket?.end();
    else if (act === "cut") response.writeHead(409, { "content-length": 100 }).write(CONFLICT, () => response.socket?.destroy());
    else if (act === "slow") setTimeout(() => response.end("late"), next() * 300);
    else if (act === "answer") response.end("fine");
    else if (act === "error") response.writeHead(503).end(CONFLICT);
    else response.writeHead(409).end(act === "conflict" ? CONFLICT : "other");
  });
  const relayed = await startRelayedPod(relaySpec(target.url, 10), runtime);
  const outcomes = await Promise.all(
    Array.from({ length: 150 }, async (_unused, n): Promise<[string, Answer | null]> => {
      // Some are gone before their answer can be there.
      const signal = next() < 0.2 ? { signal: AbortSignal.timeout(Math.floor(next() * 200)) } : {};
      const asked = ask(`${relayed.url}/${n}`, { method: "POST", body: `{"n":${n}}`.padEnd(next() < 0.1 ? 1.5e6 : 10), ...signal });
      return [`/${n}`, await asked.catch(() => null)];
    }),
  );
  for (const [path, answer] of outcomes) {
    const acts = told.get(path) ?? [];
    const story = `seed ${seed}, ${path}: ${acts.join()} → ${answer?.status}`;
    expect(
      acts.slice(0, -1).every((act) => act === "conflict"),
      story,
    ).toBe(true);
    const last = acts.at(-1);
    if (answer?.status === 200) expect(["answer", "slow"], story).toContain(last);
    if (answer?.status === 502) expect(["reset", "end", "cut"], story).toContain(last);
    if (answer?.text === "other") expect(last, story).toBe("other-409");
  }
  expect(Math.max(...[...told.values()].map((acts) => acts.length))).toBeGreaterThan(1);
  await relayed.end();
});
