import fc from "fast-check";
import { expect, test } from "vitest";
import { answerStatus, pause, TestApi, until } from "../testing/test-api.ts";
import { ListWatch } from "./list-watch.ts";

const path = "/apis/batch/v1/namespaces/n/jobs";
const acts = ["put", "remove", "cut", "end", "half line", "410", "error event", "garbage", "refuse", "repeat", "wait"] as const;
const script = fc.array(fc.tuple(fc.constantFrom(...acts), fc.constantFrom("a", "b", "c")), { minLength: 5, maxLength: 30 });

/** What the facts say is there, by uid. Throws when a fact contradicts the ones before. */
class Believer {
  readonly there = new Map<string, number>();
  readonly listener = {
    upsert: ({ uid, step }: View) => {
      if (step < (this.there.get(uid) ?? 0)) throw new Error(`${uid} went back to ${step}`);
      this.there.set(uid, step);
    },
    gone: ({ uid }: View) => {
      if (!this.there.delete(uid)) throw new Error(`${uid} gone twice, or never there`);
    },
    lost: () => {},
    back: () => {},
  };
}

interface View {
  readonly uid: string;
  readonly step: number;
}

const project = (raw: unknown): View => {
  const { metadata, step } = raw as { metadata: { uid: string }; step: number };
  return { uid: metadata.uid, step };
};

/** Mirrors the server's state. */
async function play(api: TestApi, steps: readonly (readonly [(typeof acts)[number], string])[]): Promise<Map<string, number>> {
  const truth = new Map<string, { uid: string; step: number }>();
  let step = 0;
  for (const [act, name] of steps) {
    if (act === "put") truth.set(name, { uid: api.put(path, name, { step: ++step }).metadata.uid, step });
    if (act === "remove") {
      api.remove(path, name);
      truth.delete(name);
    }
    if (act === "cut" || act === "end") api.cut(path, act === "end");
    if (act === "half line") api.send(path, '{"type":"ADDED","object":{"meta');
    if (act === "half line") api.cut(path);
    if (act === "410") api.oldest = 1_000_000;
    if (act === "410") api.cut(path);
    if (act === "error event") api.send(path, { type: "ERROR", object: { code: 500, message: "no" } });
    if (act === "garbage") api.send(path, "<html>\n");
    if (act === "repeat") api.repeat(path);
    if (act === "refuse") refuseOnce(api);
    if (act === "wait") await pause(6);
  }
  return new Map([...truth.values()].map((object) => [object.uid, object.step]));
}

function refuseOnce(api: TestApi): void {
  const hook = api.hook;
  api.hook = (_, response) => {
    api.hook = hook;
    answerStatus(response, 503, "ServiceUnavailable", "no");
    return true;
  };
  api.cut(path);
}

test("whatever happens on the wire, what is believed becomes what is true, and no fact contradicts another", async () => {
  await fc.assert(
    fc.asyncProperty(script, async (steps) => {
      const api = await TestApi.start();
      const connection = await api.connect();
      const believer = new Believer();
      api.hook = ({ query }) => {
        if (!query.has("watch")) api.oldest = 0;
        return false;
      };
      const options = { backoff: { minMs: 1, maxMs: 4 }, steadyMs: 5 };
      const watch = new ListWatch<View>({ connection, path, project, jobOf: ({ uid }) => uid, listener: believer.listener, ...options });
      try {
        const truth = await play(api, steps);
        const same = () => JSON.stringify([...believer.there].sort()) === JSON.stringify([...truth].sort());
        await until(() => api.watches.size === 1 && same(), "belief equals truth");
        await pause(5);
        expect(same()).toBe(true);
      } finally {
        watch.stop();
        await api.stop();
      }
    }),
    { numRuns: process.env.LONG ? 500 : 15 },
  );
});
