import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { cleanUp, waitFor } from "../testing/runner-fixture.ts";
import { earlierArchive, forge, KEY, put } from "./testing/forge-archive.ts";
import { cleanUpFolders, generationsIn, makeFolder, restoreAnew, statePod, stateSpec } from "./testing/state-fixture.ts";

afterAll(() => {
  cleanUp();
  cleanUpFolders();
});

const OTHER_KEY = Buffer.alloc(32, 8).toString("base64url");
const turns = (home: string): string => readFileSync(join(home, "data/files/turns"), "utf8");
const notesOf = (meta: readonly { type: string }[]): string => JSON.stringify(meta.filter(({ type }) => type === "note"));

test.concurrent("a run with the same key goes on from a signed state, without a word about it", async () => {
  const saved = makeFolder();
  await statePod(stateSpec(saved, { key: KEY }), "echo one > data/files/turns").start().ended;
  const ended = await statePod(stateSpec(saved, { key: KEY }), "cat data/files/turns").start().ended;
  expect(ended.stdout.toString()).toBe("one\n");
  expect(notesOf(ended.meta)).toBe("[]");
  // A server that signs nothing, as one of an earlier version, reads it too.
  expect(turns(restoreAnew(saved).home)).toBe("one\n");
});

test.concurrent("what is saved while the CLI runs is signed as well", async () => {
  const saved = makeFolder();
  const pod = statePod(stateSpec(saved, { key: KEY, intervalSec: 0.2 }), "echo one > data/files/turns; echo up; exec sleep 600");
  const running = pod.start();
  await waitFor(() => generationsIn(saved).length > 0, "the save");
  running.process.kill("SIGKILL");
  await running.ended;
  expect(restoreAnew(saved, { key: KEY })).toMatchObject({ notes: [] });
});

test.concurrent("a state that another agent's run signed is reported and not restored", async () => {
  const [saved, foreign] = [makeFolder(), makeFolder()];
  await statePod(stateSpec(foreign, { key: OTHER_KEY }), "echo foreign > data/files/turns").start().ended;
  cpSync(foreign, saved, { recursive: true });
  const ended = await statePod(stateSpec(saved, { key: KEY }), "ls -A data/files").start().ended;
  expect(ended.stdout.toString()).toBe("");
  expect(ended.end?.state?.restored).toBeNull();
  expect(notesOf(ended.meta)).toContain("its signature is not one of this state's runs");
  expect(notesOf(ended.meta)).toContain("no saved state can be used: a fresh start");
});

test.concurrent("behind a forged state the one before it is found", async () => {
  const saved = makeFolder();
  await statePod(stateSpec(saved, { key: KEY }), "echo one > data/files/turns").start().ended;
  forge(saved, [{ path: "data/files/turns", content: "forged" }], {}, OTHER_KEY);
  const found = restoreAnew(saved, { key: KEY });
  expect(turns(found.home)).toBe("one\n");
  expect(found.notes).toEqual([expect.stringContaining("its signature"), expect.stringContaining("an earlier state was restored")]);
});

test.concurrent("without a signature a state is restored only where an earlier version may have saved it", () => {
  const saved = makeFolder();
  put(saved, earlierArchive());
  expect(restoreAnew(saved, { key: KEY })).toMatchObject({
    point: null,
    notes: [expect.stringContaining("it is not signed"), expect.anything()],
  });
  const found = restoreAnew(saved, { key: KEY, acceptUnsigned: true });
  expect(turns(found.home)).toBe("one\n");
  expect(found.notes).toEqual([expect.stringContaining("not signed: an earlier version saved it")]);
  const long = join(found.home, "data/files/sub", "a".repeat(120));
  expect([readFileSync(long, "utf8"), statSync(long).mode & 0o777, statSync(long).mtimeMs]).toEqual([
    "long name\n",
    0o600,
    1_700_000_000_000,
  ]);
  expect(restoreAnew(saved).notes).toEqual([]);
});

test.concurrent("a signature that is wrong is refused also where none is needed", () => {
  const saved = makeFolder();
  forge(saved, [{ path: "data/files/turns", content: "forged" }], {}, OTHER_KEY);
  expect(restoreAnew(saved, { key: KEY, acceptUnsigned: true }).point).toBeNull();
});

test.concurrent("no byte of a signed state can be changed, and nothing of it stays in the home", () => {
  const saved = makeFolder();
  forge(
    saved,
    [
      { path: "data/files", kind: "folder" },
      { path: "data/files/turns", content: "right" },
    ],
    {},
    KEY,
  );
  const file = join(saved, generationsIn(saved)[0] ?? "");
  const whole = readFileSync(file);
  const manifestEnd = whole.lastIndexOf("\n", whole.length - 513) + 1;
  for (let at = 0; at < manifestEnd; at++) {
    if (whole[at] === 0) continue;
    const changed = Buffer.from(whole);
    changed[at] = (changed[at] ?? 0) ^ 1;
    writeFileSync(file, changed);
    const found = restoreAnew(saved, { key: KEY });
    // Owner, permissions and times in the headers are not used.
    if (found.point !== null) expect(turns(found.home), `byte ${at}`).toBe("right");
    else expect(existsSync(found.home) ? readdirSync(found.home) : [], `byte ${at}`).toEqual([]);
  }
});
