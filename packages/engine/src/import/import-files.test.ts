import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { diedOf, withoutProgress } from "./ended.ts";
import type { ImportSource } from "./protocol.ts";
import { sharedState } from "./shared-state.ts";
import { inTempFolder } from "./temp-folder.ts";
import { type ImportStage, importStage } from "./testing/import-fixture.ts";

let stage: ImportStage;
beforeEach(() => {
  stage = importStage();
});
afterEach(() => stage.end());

const PARTS = [{ kind: "files", path: "sessions" }] as const;
const source = (over: Partial<Extract<ImportSource, { kind: "files" }>> = {}): ImportSource[] => [
  { kind: "files", path: stage.path("old/*/id.jsonl"), beside: ["id"], to: "sessions/today", ...over },
];

function put(name: string, text: string): void {
  mkdirSync(dirname(stage.path(name)), { recursive: true });
  writeFileSync(stage.path(name), text);
}

test("a file and what lies beside it become the first state, signed, where the CLI looks for it", async () => {
  put("old/a/other.jsonl", "another session");
  put("old/b/id.jsonl", "session\n");
  put("old/b/id/sub/agent.jsonl", "sub\n");
  put("old/b/other/x", "another session");
  const answer = await stage.import(source(), PARTS);
  expect(answer).toEqual({ kind: "imported", from: stage.path("old/b/id.jsonl"), bytes: 12, files: 2, rows: 0 });
  const { home, answer: restored } = stage.restore(PARTS);
  expect(restored).toMatchObject({ point: { bytes: 12, version: null }, notes: [] });
  expect(readdirSync(join(home, "sessions"), { recursive: true }).sort()).toEqual([
    "today",
    "today/id",
    "today/id.jsonl",
    "today/id/sub",
    "today/id/sub/agent.jsonl",
  ]);
  expect(readFileSync(join(home, "sessions/today/id.jsonl"), "utf8")).toBe("session\n");
  // What an agent may put into the folder has no such signature.
  expect(stage.restore(PARTS, "b3RoZXI").answer).toMatchObject({ point: null });
  expect(readdirSync(stage.saved).filter((name) => name.endsWith(".part"))).toEqual([]);
});

test("a folder to be tried first wins over a newer one; else the newest", async () => {
  for (const [name, at] of [
    ["a", 3],
    ["b", 1],
    ["c", 2],
  ] as const) {
    put(`old/${name}/id.jsonl`, name);
    utimesSync(stage.path(`old/${name}/id.jsonl`), at, at);
  }
  expect(await stage.import(source({ first: ["no", "b"] }), PARTS)).toMatchObject({ from: stage.path("old/b/id.jsonl") });
  rmSync(stage.saved, { recursive: true });
  mkdirSync(stage.saved);
  expect(await stage.import(source(), PARTS)).toMatchObject({ from: stage.path("old/a/id.jsonl") });
});

test("nothing is imported where a state is saved already, nor where nothing is found", async () => {
  expect(await stage.import(source(), PARTS)).toEqual({ kind: "not-found", places: [stage.path("old/*/id.jsonl")] });
  put("old/a/id.jsonl", "session");
  writeFileSync(join(stage.saved, "20260101T000000000Z-1-1.tar"), "");
  expect(await stage.import(source(), PARTS)).toEqual({ kind: "saved-already" });
  rmSync(join(stage.saved, "20260101T000000000Z-1-1.tar"));
  writeFileSync(join(stage.saved, "current"), "");
  expect(await stage.import(source(), PARTS)).toMatchObject({ kind: "imported" });
});

test("as long as no run has saved anything, what was imported is imported again as it is now, and used if it is gone", async () => {
  put("old/a/id.jsonl", "session");
  expect(await stage.import(source(), PARTS)).toMatchObject({ kind: "imported", bytes: 7 });
  put("old/a/id.jsonl", "session went on");
  expect(await stage.import(source(), PARTS)).toMatchObject({ kind: "imported", bytes: 15 });
  expect(readFileSync(join(stage.restore(PARTS).home, "sessions/today/id.jsonl"), "utf8")).toBe("session went on");
  rmSync(stage.path("old"), { recursive: true });
  expect(await stage.import(source(), PARTS)).toEqual({ kind: "saved-already" });
  expect(readFileSync(join(stage.restore(PARTS).home, "sessions/today/id.jsonl"), "utf8")).toBe("session went on");
});

test("a folder with too many entries, or a link in a folder's place, hides nothing else and can be changed by a person", async () => {
  put("old/0", "");
  for (let nth = 1; nth <= 10_000; nth++) linkSync(stage.path("old/0"), stage.path(`old/${nth}`));
  expect(await stage.import(source({ first: ["no"] }), PARTS)).toMatchObject({ kind: "blocked", reason: expect.stringContaining("10000") });
  symlinkSync("/etc", stage.path("old/link"));
  put("old/b/id.jsonl", "session");
  expect(await stage.import(source({ first: ["link", "b"] }), PARTS)).toMatchObject({
    kind: "imported",
    from: stage.path("old/b/id.jsonl"),
  });
  rmSync(stage.saved, { recursive: true });
  mkdirSync(stage.saved);
  symlinkSync(stage.path("old"), stage.path("way"));
  const answer = await stage.import(source({ path: stage.path("way/*/id.jsonl") }), PARTS);
  expect(answer).toMatchObject({ kind: "blocked", reason: expect.stringContaining("is a link") });
});

test("what is no part of a state does not become an empty one", async () => {
  put("old/a/id.jsonl", "session");
  expect(await stage.import(source({ to: "elsewhere" }), PARTS)).toMatchObject({ kind: "stalled" });
  expect(readdirSync(stage.saved)).toEqual([]);
});

test("all that is copied counts, from whatever place", async () => {
  put("old/a/id.jsonl", "x".repeat(600));
  mkdirSync(stage.path("old/a/id/id.jsonl"), { recursive: true });
  put("old/a/id/big", "x".repeat(600));
  put("other/id.jsonl", "x".repeat(600));
  const sources = [...source(), ...source({ path: stage.path("other/id.jsonl") })];
  const answer = await stage.import(sources, PARTS, { maxBytes: 1000, maxDatabaseBytes: 1000 });
  expect(answer).toMatchObject({ kind: "blocked", reason: expect.stringContaining("other places") });
});

test("imports at once do not harm each other, and one that comes late replaces no save", async () => {
  put("old/a/id.jsonl", "session");
  const answers = await Promise.all([1, 2, 3].map(() => stage.import(source(), PARTS)));
  expect(answers.some((answer) => answer?.kind === "imported")).toBe(true);
  for (const answer of answers) expect(["imported", "saved-already"]).toContain(answer?.kind);
  expect(stage.restore(PARTS).answer.point).not.toBeNull();
  expect(readdirSync(stage.saved).filter((name) => name !== "current")).toHaveLength(1);
});

const outside = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "import-outside-"));
  writeFileSync(join(folder, "id.jsonl"), "the server's own");
  return folder;
};

test.each<[string, (path: string, folder: string) => void, RegExp]>([
  ["a link to a file", (path, folder) => symlinkSync(join(folder, "id.jsonl"), path), /ELOOP|link/],
  ["a pipe", (path) => execFileSync("mkfifo", [path]), /not a file/],
  ["a folder", (path) => mkdirSync(path), /not a file/],
])("%s is refused for good, and does not hide what another place has", async (_, make, reason) => {
  const folder = outside();
  try {
    mkdirSync(stage.path("old/a"), { recursive: true });
    make(stage.path("old/a/id.jsonl"), folder);
    expect(await stage.import(source(), PARTS)).toMatchObject({ kind: "unfit", reason: expect.stringMatching(reason) });
    put("old/b/id.jsonl", "session");
    expect(await stage.import(source({ first: ["a"] }), PARTS)).toMatchObject({ kind: "imported", from: stage.path("old/b/id.jsonl") });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a folder that is a link is not followed, and links beside the file are left out", async () => {
  const folder = outside();
  try {
    mkdirSync(stage.path("old"));
    symlinkSync(folder, stage.path("old/a"));
    expect(await stage.import(source(), PARTS)).toMatchObject({ kind: "not-found" });
    put("old/b/id.jsonl", "session");
    mkdirSync(stage.path("old/b/id"));
    symlinkSync(join(folder, "id.jsonl"), stage.path("old/b/id/x"));
    expect(await stage.import(source(), PARTS)).toMatchObject({ kind: "imported", files: 1 });
    expect(existsSync(join(stage.restore(PARTS).home, "sessions/today/id/x"))).toBe(false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("more bytes than are allowed are refused for good", async () => {
  put("old/a/id.jsonl", "x".repeat(2000));
  expect(await stage.import(source(), PARTS, { maxBytes: 1999 })).toMatchObject({ kind: "unfit", reason: expect.stringContaining("1999") });
});

test.runIf(process.geteuid?.() !== 0)("what the server may not read can be changed by a person", async () => {
  put("old/a/id.jsonl", "session");
  chmodSync(stage.path("old/a/id.jsonl"), 0);
  expect(await stage.import(source(), PARTS)).toMatchObject({
    kind: "blocked",
    reason: expect.stringContaining("not readable for the server"),
  });
});

test("without a temporary folder of the server's nothing is imported, and a person can change that", async () => {
  put("old/a/id.jsonl", "session");
  const before = process.env.TMPDIR;
  process.env.TMPDIR = stage.path("none");
  try {
    expect(await stage.import(source(), PARTS)).toMatchObject({ kind: "blocked", reason: expect.stringContaining("temporary folder") });
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
});

test("a process that makes no progress is ended, and the volume may answer the next time", async () => {
  put("old/a/id.jsonl", "session");
  let pid = 0;
  const onProcess = (started: number): void => {
    pid = started;
    process.kill(pid, "SIGSTOP");
  };
  const answer = await stage.import(source(), PARTS, {}, { onProcess, stallMs: 100, startMs: 0 });
  expect(answer).toMatchObject({ kind: "stalled", reason: expect.stringContaining("does not answer") });
  expect(await stage.import(source(), PARTS)).toMatchObject({ kind: "imported" });
  expect(leftovers()).toEqual([]);
});

test("nobody waits for an import that is not wanted any more", async () => {
  put("old/a/id.jsonl", "session");
  const abort = new AbortController();
  const onProcess = (pid: number): void => {
    process.kill(pid, "SIGSTOP");
    abort.abort();
  };
  expect(await stage.import(source(), PARTS, {}, { onProcess, signal: abort.signal })).toBeNull();
  expect(leftovers()).toEqual([]);
});

const leftovers = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith(`agent-state-import-${process.pid}-`));

test("what a server that died has left in the temporary folder is removed by the next import", async () => {
  const parent = mkdtempSync(join(tmpdir(), "import-temp-"));
  try {
    const { token } = sharedState();
    const names = [`${process.pid}-${token}-left`, `${process.pid}-other-live`, "1-other-old"].map((name) => `agent-state-import-${name}`);
    for (const name of names) mkdirSync(join(parent, name, "home"), { recursive: true });
    utimesSync(join(parent, names[2]!), 1, 1);
    await inTempFolder(async (own) => {
      expect(readdirSync(parent).sort()).toEqual([own.slice(parent.length + 1), names[1]].sort());
    }, parent);
    expect(readdirSync(parent)).toEqual([names[1]]);
  } finally {
    rmSync(parent, { recursive: true });
  }
});

test("another adapter's copy of this code in the same process leaves a live folder alone", async () => {
  const parent = mkdtempSync(join(tmpdir(), "import-temp-"));
  const other = "./temp-folder.ts?other";
  const copy = ((await import(other)) as typeof import("./temp-folder.ts")).inTempFolder;
  expect(copy).not.toBe(inTempFolder);
  try {
    await inTempFolder(async (own) => {
      await copy(async () => expect(existsSync(own)).toBe(true), parent);
      expect(existsSync(own)).toBe(true);
    }, parent);
  } finally {
    rmSync(parent, { recursive: true });
  }
});

test("only a death of its own over a database is final; any other end may be none the next time", () => {
  const [volume, copies] = [{ step: "volume", bytes: 1 } as const, { step: "copies", bytes: 1 } as const];
  expect(withoutProgress(volume, 60_000, "/data").kind).toBe("stalled");
  expect(withoutProgress(copies, 60_000, "/data").kind).toBe("stalled");
  expect([diedOf(copies, "SIGSEGV"), diedOf(copies, 134), diedOf(copies, "SIGKILL"), diedOf(volume, 1)].map(({ kind }) => kind)).toEqual([
    "unfit",
    "unfit",
    "stalled",
    "stalled",
  ]);
});
