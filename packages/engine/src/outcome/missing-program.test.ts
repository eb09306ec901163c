import { describe, expect, test } from "vitest";
import type { Fact } from "./observation.ts";
import { ended, endRecord, job, kindOf, play, pod, startRecord, waiting } from "./testing/example-facts.ts";

const seen = (...facts: Fact[]) => kindOf(play([{ kind: "job", job: job() }, ...facts], { afterMs: 700_000 }));
const startError = (text: string) => seen({ kind: "pod", pod: pod(ended(128, "StartError", text), { phase: "Failed" }) });

describe("the image has no program that runs the runner", () => {
  test.each([
    ["runc", 'exec: "node": executable file not found in $PATH: unknown'],
    ["crun", "executable file `node` not found in $PATH: No such file or directory"],
    ["gVisor", "error finding executable 'node' in PATH [/bin]: no such file or directory"],
  ])("as %s says it", (_, text) => {
    expect(startError(text)).toMatchObject({ cause: "runtime-missing", permanent: true, message: expect.stringContaining("agent:1") });
  });

  test("as a container runtime says it that does not even make the container: at once", () => {
    const state = waiting("CreateContainerError", "container create failed: executable file `node` not found in $PATH");
    const facts: Fact[] = [
      { kind: "job", job: job() },
      { kind: "pod", pod: pod(state, { phase: "Pending" }) },
    ];
    expect(kindOf(play(facts, { afterMs: 0 }))).toMatchObject({ cause: "runtime-missing" });
  });

  test.each([
    'exec: "node": permission denied',
    "exec node: exec format error",
    'chdir to cwd ("/node") set in config.json failed: no such file or directory',
    'exec: "nodes": executable file not found in $PATH',
    "error mounting /x/node-data: no such file or directory",
  ])("not meant: %s", (text) => {
    expect(startError(text)).toMatchObject({ cause: "start-error" });
  });
});

test("its runtime is too old: the exit code says so only before the runner has begun", () => {
  const old: Fact = { kind: "pod", pod: pod(ended(218, "Error", "Node 12.22.0 is too old"), { phase: "Failed" }) };
  expect(seen(old)).toMatchObject({ kind: "never-started", cause: "runtime-too-old", message: "Node 12.22.0 is too old" });
  expect(seen({ kind: "start-record", record: startRecord }, old)).toMatchObject({ kind: "exited", exitCode: 218 });
  expect(seen({ kind: "end-record", record: endRecord({ exitCode: 218 }) })).toMatchObject({ kind: "exited", exitCode: 218 });
});

test("it has no CLI: only when that was not found", () => {
  const notRun = { cause: "spawn-failed", bytes: 0, written: 0 } as const;
  const failed = (exitCode: number, error: string) => seen({ kind: "end-record", record: endRecord({ ...notRun, exitCode, error }) });
  expect(failed(127, "cannot run it")).toMatchObject({ cause: "cli-missing" });
  expect(failed(126, "cannot run it (EACCES)")).toMatchObject({ cause: "start-error" });
  expect(seen({ kind: "end-record", record: endRecord({ exitCode: 127 }) })).toMatchObject({ kind: "exited", exitCode: 127 });
});
