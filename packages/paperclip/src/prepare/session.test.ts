import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseSession, earlierSession, mayBeUnsigned, sessionCodec, sessionParamsOut } from "./session.ts";

const workspace = { id: "workspace-1", repoUrl: "https://example.com/acme.git", repoRef: "main" };
const out = {
  sessionId: "ses_1",
  previous: null,
  cwd: "/data/work",
  fingerprint: { podCwd: "/pod/work", stateMode: "portable", bundleKey: "k1", mcpIdentity: "m1", connectionsDigest: "d1" },
  workspace,
};

const store = (params: Record<string, unknown> | null) =>
  sessionCodec.deserialize(JSON.parse(JSON.stringify(sessionCodec.serialize(params))));

test("every key that a run writes survives the host's store", () => {
  const params = sessionParamsOut(out);
  const facts = ["cwd", "mcpServerIdentity", "podCwd", "promptBundleKey", "repoRef", "repoUrl", "sessionId", "stateMode", "workspaceId"];
  expect(Object.keys(params!).sort()).toEqual(["connectionsDigest", ...facts]);
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
  const choice = chooseSession({ sessionId, sessionParams, sessionDisplayId: null, taskKey: null }, { podCwd: cwd });
  expect(choice.sessionId).toBe(chosen);
  if (note === null) expect(choice.note).toBeNull();
  else expect(choice.note).toMatch(note);
});

const UUID = "0b8a5b0e-0000-4000-8000-000000000000";
test.each<[string, Record<string, unknown>, RegExp | null]>([
  ["the same fingerprint", { promptBundleKey: "k1", mcpServerIdentity: "m1" }, null],
  ["a bundle that was not noted", { mcpServerIdentity: "m1" }, null],
  ["another bundle", { promptBundleKey: "k0", mcpServerIdentity: "m1" }, /other instructions or skills/],
  ["other tool servers", { promptBundleKey: "k1", mcpServerIdentity: "m0" }, /other tool servers/],
  ["tool servers where there were none", { promptBundleKey: "k1" }, /other tool servers/],
  ["an id of another CLI", { sessionId: "ses_1", mcpServerIdentity: "m1" }, /not an id of this CLI/],
])("resume on %s", (_, params, note) => {
  const sessionParams = { sessionId: UUID, ...params };
  const fingerprint = { podCwd: "/data", idPattern: /^[0-9a-f-]{36}$/, bundleKey: "k1", mcpIdentity: "m1" };
  const choice = chooseSession({ sessionId: null, sessionParams, sessionDisplayId: null, taskKey: null }, fingerprint);
  expect(choice.sessionId).toBe(note === null ? UUID : null);
  if (note === null) expect(choice.note).toBeNull();
  else expect(choice.note).toMatch(note);
});

test.each<[string, string | null, string | null, boolean]>([
  ["the same", "d1", "d1", true],
  ["none then and none now", null, null, true],
  ["others", "d1", "d2", false],
  ["some where there were none, or none were noted", null, "d1", false],
  ["none where there were some", "d1", null, false],
])("resume under instructions for connections: %s", (_, noted, now, resumes) => {
  const sessionParams = sessionParamsOut({ ...out, fingerprint: { podCwd: "/data", connectionsDigest: noted } });
  const fingerprint = { podCwd: "/data", connectionsDigest: now };
  const { sessionId, note } = chooseSession({ sessionId: null, sessionParams, sessionDisplayId: null, taskKey: null }, fingerprint);
  expect(sessionId).toBe(resumes ? "ses_1" : null);
  expect(note ?? "").toMatch(resumes ? /^$/ : /other instructions for connections/);
});

test("what goes out: facts of this run over those of the last, foreign keys only with their own session", () => {
  const previous = { sessionId: "ses_1", cwd: "/old", podCwd: "/old", workspaceId: "old", promptBundleKey: "old", theirs: "abc" };
  const fingerprint = { podCwd: out.cwd };
  const same = sessionParamsOut({ ...out, previous, fingerprint, workspace: { id: null, repoUrl: null, repoRef: "main" } });
  expect(same).toEqual({ sessionId: "ses_1", cwd: "/data/work", repoRef: "main", theirs: "abc" });
  expect(sessionParamsOut({ ...out, previous, sessionId: "ses_2" })).not.toHaveProperty("theirs");
  expect(sessionParamsOut({ ...out, sessionId: null })).toBeNull();
  // On unknown fingerprint: what was noted of the very session holds, and nothing is made up for another.
  expect(sessionParamsOut({ ...out, previous, fingerprint: null })).toEqual(previous);
  expect(sessionParamsOut({ ...out, previous, fingerprint: null, sessionId: "ses_2" })).toBeNull();
});

test("a session is not looked for in another mode, and not at all where none is kept", () => {
  const at = (stateMode: string, noted?: string) =>
    chooseSession(
      { sessionId: null, sessionDisplayId: null, taskKey: null, sessionParams: { sessionId: "ses_1", ...(noted && { stateMode: noted }) } },
      { podCwd: "/pod/work", stateMode },
    );
  expect(at("portable", "portable")).toEqual({ sessionId: "ses_1", note: null });
  // Of earlier versions: what was not noted does not count.
  expect(at("portable")).toEqual({ sessionId: "ses_1", note: null });
  expect(at("portable", "dedicated_pvc").note).toBe(
    "session ses_1 was kept on the agent's own claim (agentDbMode dedicated_pvc) and is not looked for on the shared volume; starting a fresh one",
  );
  // A CLI without that setting does not get it.
  expect(at("portable", "own").note).toBe(
    "session ses_1 was kept in a folder that the agent's env names and is not looked for on the shared volume; starting a fresh one",
  );
  expect(at("ephemeral", "portable")).toMatchObject({ sessionId: null, note: expect.stringContaining("agentDbMode is ephemeral") });
});

test("an unsigned state is accepted only for a session that was never known to be signed", () => {
  const accepts = (sessionParams: Record<string, unknown> | null, sessionId: string | null = "ses_1") =>
    mayBeUnsigned({ sessionId, sessionDisplayId: null, taskKey: null, sessionParams });
  expect(accepts({ sessionId: "ses_1" })).toBe(true);
  expect(accepts(null)).toBe(true);
  expect(accepts({ sessionId: "ses_1", stateSigned: true })).toBe(false);
  expect(accepts(null, null)).toBe(false);
});

const runtimeOf = (sessionParams: Record<string, unknown> | null) => ({
  sessionId: "ses_0",
  sessionParams,
  sessionDisplayId: null,
  taskKey: null,
});

test("a session is one of an earlier adapter if its record says so; one that a run of this adapter left never is", () => {
  expect(earlierSession(runtimeOf({ sessionId: "ses_1", cwd: "/data" }))).toBe("ses_1");
  expect(earlierSession(runtimeOf(sessionParamsOut(out)))).toBeNull();
  // Without a record nobody knows who made it.
  expect(earlierSession(runtimeOf(null))).toBeNull();
});

test("a session that was imported goes on whatever folder or tool servers it was made with; one that could not be does not", () => {
  const choose = (lost: string | null, more = {}) =>
    chooseSession(runtimeOf({ sessionId: "ses_1", cwd: "/then", ...more }), { podCwd: "/now", mcpIdentity: "m1", earlier: { lost } });
  expect(choose(null)).toEqual({ sessionId: "ses_1", note: null });
  expect(choose("it is no file").note).toBe("session ses_1 of another adapter cannot be taken over (it is no file); starting a fresh one");
  expect(choose(null, { stateMode: "portable" }).note).toMatch(/was made in \/then/);
});
