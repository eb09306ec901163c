import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
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
  expect(await stage.import(source(), PARTS)).toEqual({ kind: "saved-already" });
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
    for (const pid of [process.pid, 2 ** 22 + 1]) mkdirSync(join(parent, `agent-state-import-${pid}-abcdef/home`), { recursive: true });
    mkdirSync(join(parent, `agent-state-import-${process.ppid}-abcdef`));
    await inTempFolder(async (own) => {
      expect(readdirSync(parent).sort()).toEqual([own.slice(parent.length + 1), `agent-state-import-${process.ppid}-abcdef`].sort());
    }, parent);
    expect(readdirSync(parent)).toHaveLength(1);
  } finally {
    rmSync(parent, { recursive: true });
  }
});

test("without progress on the server's own disk, or a death of its own, it is the database; any other end may be none the next time", () => {
  const [volume, copies] = [{ step: "volume", bytes: 1 } as const, { step: "copies", bytes: 1 } as const];
  expect(withoutProgress(volume, 60_000, "/data").kind).toBe("stalled");
  expect(withoutProgress(copies, 60_000, "/data").kind).toBe("unfit");
  expect([diedOf(copies, "SIGSEGV"), diedOf(copies, 134), diedOf(copies, "SIGKILL"), diedOf(volume, 1)].map(({ kind }) => kind)).toEqual([
    "unfit",
    "unfit",
    "stalled",
    "stalled",
  ]);
});
