import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseSession, SESSION_KEYS, sessionCodec, sessionParamsOut } from "./session.ts";

const workspace = { id: "workspace-1", repoUrl: "https://example.com/acme.git", repoRef: "main" };
const out = { sessionId: "ses_1", previous: null, cwd: "/data/work", podCwd: "/pod/work", workspace };

const store = (params: Record<string, unknown> | null) =>
  sessionCodec.deserialize(JSON.parse(JSON.stringify(sessionCodec.serialize(params))));

test("every key that a run writes survives the host's store", () => {
  const params = sessionParamsOut(out);
  expect(Object.keys(params!).sort()).toEqual([...SESSION_KEYS].sort());
  expect(store(params)).toEqual(params);
  expect(sessionCodec.getDisplayId(params)).toBe("ses_1");
});

test("keys of other versions survive, whatever they hold", () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string().filter((key) => key !== "__proto__"),
        fc.jsonValue(),
      ),
      (others) => {
        const params = JSON.parse(JSON.stringify({ ...others, sessionId: "ses_1" }));
        expect(store(params)).toEqual(params);
      },
    ),
  );
});

test.each<[string, unknown, string | null]>([
  ["an id", { sessionId: " ses_1 " }, "ses_1"],
  ["an id as others write it", { session_id: "ses_1" }, "ses_1"],
  ["an empty id", { sessionId: " ", cwd: "/data" }, null],
  ["an id that is no text", { sessionId: 7 }, null],
  ["a list", ["ses_1"], null],
  ["text", "ses_1", null],
  ["nothing", null, null],
])("the codec reads %s", (_, raw, id) => expect(sessionCodec.deserialize(raw)?.sessionId ?? null).toBe(id));

test.each<[string, Record<string, unknown> | null, string | null, string, string | null, RegExp | null]>([
  ["same folder", { sessionId: "ses_1", cwd: "/data/work" }, null, "/data/work/", "ses_1", null],
  ["no folder noted", { sessionId: "ses_1" }, "ses_0", "/data/work", "ses_1", null],
  ["only the runtime knows it", null, "ses_0", "/data/work", "ses_0", null],
  [
    "another folder",
    { sessionId: "ses_1", cwd: "/data/old" },
    "ses_0",
    "/data/work",
    null,
    /ses_1 was made in \/data\/old .* in \/data\/work/,
  ],
  ["the pod's folder counts", { sessionId: "ses_1", cwd: "/data/moved", podCwd: "/data/work" }, null, "/data/work", "ses_1", null],
  ["no session", {}, "", "/data/work", null, null],
])("resume: %s", (_, sessionParams, sessionId, cwd, chosen, note) => {
  const choice = chooseSession({ sessionId, sessionParams, sessionDisplayId: null, taskKey: null }, cwd);
  expect(choice.sessionId).toBe(chosen);
  if (note === null) expect(choice.note).toBeNull();
  else expect(choice.note).toMatch(note);
});

test("what goes out: facts of this run over those of the last, foreign keys only with their own session", () => {
  const previous = { sessionId: "ses_1", cwd: "/old", podCwd: "/old", workspaceId: "old", repoRef: "old", mcpServerIdentity: "abc" };
  const same = sessionParamsOut({ ...out, previous, podCwd: out.cwd, workspace: { id: null, repoUrl: null, repoRef: "main" } });
  expect(same).toEqual({ sessionId: "ses_1", cwd: "/data/work", repoRef: "main", mcpServerIdentity: "abc" });
  expect(sessionParamsOut({ ...out, previous, sessionId: "ses_2" })).not.toHaveProperty("mcpServerIdentity");
  expect(sessionParamsOut({ ...out, sessionId: null })).toBeNull();
});
