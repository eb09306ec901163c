import { afterAll, expect, test } from "vitest";
import { cleanUp } from "../testing/runner-fixture.ts";
import { type Answer, ask, CONFLICT, closeTargets, RUNTIMES, relaySpec, startRelayedPod, startTarget } from "./testing/relay-fixture.ts";

afterAll(() => {
  cleanUp();
  closeTargets();
});

type Reaction = "answer" | "conflict" | "other-409" | "error" | "reset" | "end" | "cut" | "slow";
const REACTIONS: readonly Reaction[] = ["answer", "conflict", "conflict", "other-409", "error", "reset", "end", "cut", "slow"];

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
  const answers = new Map<string, Reaction[]>();
  const target = await startTarget(({ path }, response) => {
    const reaction = REACTIONS[Math.floor(next() * REACTIONS.length)]!;
    answers.set(path, [...(answers.get(path) ?? []), reaction]);
    if (reaction === "reset") response.socket?.resetAndDestroy();
    else if (reaction === "end") response.socket?.end();
    else if (reaction === "cut") response.writeHead(409, { "content-length": 100 }).write(CONFLICT, () => response.socket?.destroy());
    else if (reaction === "slow") setTimeout(() => response.end("late"), next() * 300);
    else if (reaction === "answer") response.end("fine");
    else if (reaction === "error") response.writeHead(503).end(CONFLICT);
    else response.writeHead(409).end(reaction === "conflict" ? CONFLICT : "other");
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
    const reactions = answers.get(path) ?? [];
    const story = `seed ${seed}, ${path}: ${reactions.join()} → ${answer?.status}`;
    expect(
      reactions.slice(0, -1).every((reaction) => reaction === "conflict"),
      story,
    ).toBe(true);
    const last = reactions.at(-1);
    if (answer?.status === 200) expect(["answer", "slow"], story).toContain(last);
    if (answer?.status === 502) expect(["reset", "end", "cut"], story).toContain(last);
    if (answer?.text === "other") expect(last, story).toBe("other-409");
  }
  expect(Math.max(...[...answers.values()].map((reactions) => reactions.length))).toBeGreaterThan(1);
  await relayed.end();
});
