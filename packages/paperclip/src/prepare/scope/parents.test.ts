import { dirname } from "node:path/posix";
import { expect, test } from "vitest";
import { isBelow } from "../../host/context-values.ts";
import { ConfigError } from "../../settings/config-error.ts";
import { createRandom } from "../../testing/seeded-random.ts";
import { type ExampleRun, INSTANCE, mountsOf } from "./testing/example-scope.ts";

test.each(["instances/default/*", "instances/*", "instances", "instances/default/data/run-logs/company-1"])(
  "a writable path of the policy above what pods mount by themselves is refused: %s",
  (path) => {
    const context = { paperclipWorkspace: { cwd: `${INSTANCE}/projects/company-1/p-1`, source: "project_primary", projectId: "p-1" } };
    const run = { context, volume: { paths: [{ path: `/paperclip/${path}`, readOnly: false }] } };
    expect(() => mountsOf(run)).toThrow(/volume\.paths: .* agents can write to .* and could put a link in its place/);
  },
);

test("the whole volume, or what is above it, is no path for the policy; a folder of another volume is nothing to this one", () => {
  const run = (path: string) => mountsOf({ volume: { paths: [{ path, readOnly: true }] } });
  for (const path of ["/paperclip", "/", "/paperclip/"]) expect(() => run(path)).toThrow(/^volume\.paths: .* is the whole volume/);
  expect(run("/elsewhere/x")).toEqual(mountsOf());
});

test("a read-only path in a folder that agents can write to is refused", () => {
  const paths = [
    { path: "/paperclip/shared", readOnly: false },
    { path: "/paperclip/shared/fixed", readOnly: true },
  ];
  expect(() => mountsOf({ volume: { paths } })).toThrow("/paperclip/shared/fixed cannot be mounted by itself");
  const inHome = [{ path: `${INSTANCE}/workspaces/agent-1/fixed`, readOnly: true }];
  expect(() => mountsOf({ volume: { paths: inHome } })).toThrow(ConfigError);
});

test("whatever the policy says: no pod can write to the folder above a mount of any pod", () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  const random = createRandom(seed);
  const one = <T>(of: readonly T[]): T => of[random(of.length)]!;
  let accepted = 0;
  for (let round = 0; round < 500; round++) {
    const volume = { paths: Array.from({ length: random(4) }, () => ({ path: randomPath(one, random), readOnly: random(2) === 0 })) };
    const runs = Array.from({ length: 3 }, () => ({ ...randomRun(one, random), volume }));
    const mounted = runs.flatMap((run) => acceptedMounts(run));
    accepted += mounted.length;
    const writable = mounted.filter((mount) => !mount.startsWith("ro "));
    for (const mount of mounted) {
      const above = dirname(mount.replace(/^ro /, ""));
      expect(
        writable.filter((each) => isBelow(above, each)),
        `SEED=${seed}: ${mount} with ${JSON.stringify(volume)}`,
      ).toEqual([]);
    }
  }
  expect(accepted).toBeGreaterThan(300);
});

function acceptedMounts(run: ExampleRun): string[] {
  try {
    return mountsOf(run);
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

type One = <T>(of: readonly T[]) => T;
type Random = (below: number) => number;

function randomPath(one: One, random: Random): string {
  const ids = ["a", "b", "*"];
  const known = ["instances", "default", "workspaces", "projects", "data", "run-logs", "agent-state", "companies", "skills", "x"];
  const tops = [INSTANCE, `${INSTANCE}/workspaces`, `${INSTANCE}/projects/a`, `${INSTANCE}/data/run-logs`, "/paperclip", "/paperclip/x"];
  return [one(tops), ...Array.from({ length: 1 + random(3) }, () => one([...ids, one(known)]))].join("/");
}

function randomRun(one: One, random: Random): ExampleRun {
  const [agent, company, projectId] = [one(["a", "b"]), one(["a", "b"]), one(["a", "b"])];
  const cwd = one([
    `${INSTANCE}/projects/${company}/${projectId}/r`,
    `${INSTANCE}/workspaces/${agent}`,
    randomPath(one, random).replaceAll("*", "a"),
  ]);
  const paperclipWorkspaces = [{ projectId: "b", cwd: `${INSTANCE}/projects/${company}/b/r` }, { cwd: "/paperclip/x/a/b" }];
  const paperclipWorkspace = { cwd, source: "project_primary", projectId, strategy: one(["git_worktree", null]) };
  return { agent, company, context: one([{}, { paperclipWorkspace }, { paperclipWorkspace, paperclipWorkspaces }]) };
}
