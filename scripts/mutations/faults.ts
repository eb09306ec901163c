/** A deliberate fault in product code, which `npm test` has to catch. */
export interface Fault {
  /** What it would do to a user. */
  readonly what: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** Test files of `npm test`, one of which fails; only they are run. */
  readonly caughtBy: readonly string[];
}

const engine = (path: string): string => `packages/engine/src/${path}`;
const suite = (name: string): string => `testbed/suite/src/${name}.test.ts`;

export const FAULTS: readonly Fault[] = [
  {
    what: "the tail counts one byte too few: a byte comes twice",
    file: engine("volume/tail.ts"),
    find: "this.#received += bytes.length;",
    replace: "this.#received += bytes.length - 1;",
    caughtBy: [engine("volume/volume.test.ts")],
  },
  {
    what: "the tail takes bytes at any offset: output is lost or doubled when the volume's process is restarted",
    file: engine("volume/tail.ts"),
    find: "if (this.#ended !== null || offset !== this.#received) return;",
    replace: "if (this.#ended !== null) return;",
    caughtBy: [engine("volume/tail.test.ts"), engine("volume/volume-faults.test.ts")],
  },
  {
    what: "success without proof: a Job that says Complete is called exited with 0",
    file: engine("outcome/conclude.ts"),
    find: "if (state.job?.conditions.Complete !== undefined)",
    replace:
      'if (state.job?.conditions.Complete !== undefined) return { kind: "exited", exitCode: 0, signal: null };\n  if (state.pod === undefined)',
    caughtBy: [engine("outcome/reduce.property.test.ts"), engine("outcome/conclude.test.ts")],
  },
  {
    what: "a container that was killed for lack of memory is an ordinary exit",
    file: engine("outcome/conclude.ts"),
    find: 'if (killed && ((end.oomKills ?? 0) > 0 || container?.reason === "OOMKilled")) return outOfMemory(state, exitCode ?? KILLED_EXIT);',
    replace: "",
    caughtBy: [engine("outcome/conclude-ran.test.ts"), suite("pod-trouble")],
  },
  {
    what: "not seen is taken for gone: a lost API server ends a run",
    file: engine("outcome/reduce.ts"),
    find: "return { ...state, apiLostAt: state.apiLostAt ?? state.now, apiProblem: seen.forPeople === true ? seen.error : null };",
    replace: "return { ...state, apiLostAt: state.apiLostAt ?? state.now, jobGoneAt: state.now, podGoneAt: state.now, apiProblem: null };",
    caughtBy: [engine("outcome/reduce.property.test.ts"), engine("outcome/reduce.test.ts"), suite("api-trouble")],
  },
  {
    what: "a Job of the same name that another run made is followed as one's own",
    file: engine("outcome/reduce.ts"),
    find: "return state.identity.jobUid !== null && state.identity.jobUid === jobUid;",
    replace: "return state.identity.jobUid !== null && jobUid !== null;",
    caughtBy: [engine("outcome/reduce.test.ts")],
  },
  {
    what: "the owner check is gone: a Job that another run has taken over is deleted",
    file: engine("kube/writes.ts"),
    find: "if (!isOwned(job)) return { taken: job };",
    replace: "",
    caughtBy: [suite("adoption-refusals"), suite("preconditions")],
  },
  {
    what: "the next run of a task waits until the pod of the run before is gone",
    file: engine("finish/clean-up.ts"),
    find: "return endRecord !== null || podGoneAt !== null",
    replace: "return podGoneAt !== null",
    caughtBy: [engine("finish/clean-up.test.ts")],
  },
  {
    what: "a run that is cancelled while its Job is created ends before that is known, and the Job stays",
    file: engine("outcome/reduce.ts"),
    find: "(next.followedAt === null ? null : (decide(next, timeouts) ?? detached(next)))",
    replace: "decide(next, timeouts) ?? detached(next)",
    caughtBy: [engine("outcome/reduce.property.test.ts")],
  },
  {
    what: "a takeover without compare-and-swap: two servers have one Job",
    file: engine("kube/writes.ts"),
    find: '{ op: "test", path: annotation(change.key), value: change.from },',
    replace: "",
    caughtBy: [suite("preconditions"), suite("adoption")],
  },
  {
    what: "a delete without the Job's uid: its successor of the same name goes",
    file: engine("kube/writes.ts"),
    find: "const preconditions = { uid, ...",
    replace: "const preconditions = { ...",
    caughtBy: [suite("preconditions"), engine("kube/calls.test.ts")],
  },
  {
    what: "secret variables stand in the Job's spec",
    file: engine("manifest/env.ts"),
    find: "const literals = Object.entries(env.plain)",
    replace: "const literals = Object.entries({ ...env.plain, ...env.secret })",
    caughtBy: [engine("manifest/submission.test.ts"), suite("recorded")],
  },
  {
    what: "a dollar in a variable is expanded by the kubelet",
    file: engine("manifest/env.ts"),
    find: "value: escapeDollars(value) }));",
    replace: "value }));",
    caughtBy: [suite("endings"), engine("manifest/submission.test.ts")],
  },
  {
    what: "a request is tried again without a limit",
    file: engine("kube/send-request.ts"),
    find: "attempt < attempts && !connection.closed.aborted",
    replace: "!connection.closed.aborted",
    caughtBy: [engine("kube/send-request.test.ts")],
  },
  {
    what: "a create whose answer was lost is simply sent again",
    file: engine("kube/send-request.ts"),
    find: 'return !isMutation(req) || req.idempotent === true || (error.code === "api_unreachable" && !error.maybeApplied);',
    replace: "return true;",
    caughtBy: [engine("kube/send-request.test.ts"), suite("api-trouble")],
  },
  {
    what: "a create is tried for ever while the API server is away",
    file: engine("retry.ts"),
    find: "if (clock.now() - (denied ? (deniedAt ?? begun) : begun) >= timeoutMs) throw last;",
    replace: "",
    caughtBy: [suite("adoption-trouble")],
  },
  {
    what: "a process that is stuck on a hung mount is kept: every later run on the mount's healthy neighbours waits for it",
    file: engine("volume/volume.ts"),
    find: "if (this.#tails.size === 0) this.#process.kill();",
    replace: "",
    caughtBy: [engine("volume/volume-faults.test.ts")],
  },
  {
    what: "an old runner's end record is discarded, because it lacks a field of a later version",
    file: engine("decode-records.ts"),
    find: "memoryLimitBytes: or(orNull(amount), null),",
    replace: "memoryLimitBytes: orNull(amount),",
    caughtBy: [engine("decode-records.test.ts")],
  },
  {
    what: "a path outside of the volume is read",
    file: engine("volume/paths.ts"),
    find: "!normal.startsWith(prefix) || ",
    replace: "",
    caughtBy: [engine("volume/paths.test.ts"), suite("adoption-refusals")],
  },
  {
    what: "a run waits for its key without a limit",
    file: engine("lock/take-lock.ts"),
    find: "const timeoutMs = run.timeouts.admission - (clock.now() - begun);",
    replace: "const timeoutMs = Number.POSITIVE_INFINITY;",
    caughtBy: [suite("admission")],
  },
  {
    what: "a CLI that ignores SIGTERM is never killed",
    file: "packages/runner/src/cli/end-cli.ts",
    find: 'this.#timer = setTimeout(() => signalGroup(this.#group, "SIGKILL"), graceMs);',
    replace: "",
    caughtBy: ["packages/runner/src/runner-limits.test.ts"],
  },
  {
    what: "what a process the CLI left running writes counts as the CLI's output",
    file: "packages/runner/src/cli/cli-output.ts",
    find: "this.#closed = allRead && this.#scan.finalLine !== null;",
    replace: "",
    caughtBy: ["packages/runner/src/runner-limits.test.ts"],
  },
  {
    what: "a slow start of the runner's own processes is taken for a slow volume",
    file: "packages/runner/src/limits.ts",
    find: "export const CHILD_START_MS = 60_000;",
    replace: "export const CHILD_START_MS = 0;",
    caughtBy: ["packages/runner/src/runner-volume.test.ts"],
  },
  {
    what: "a CLI killed by a signal exits with 0",
    file: "packages/runner/src/run.ts",
    find: "return number === undefined ? RUNNER_EXIT.failed : 128 + number;",
    replace: "return 0;",
    caughtBy: ["packages/runner/src/runner-exit.test.ts"],
  },
  {
    what: "a failed run is reported with exit code 0",
    file: "packages/paperclip/src/conclude/result.ts",
    find: "exitCode: failure !== null && exitCode === 0 ? 1 : exitCode,",
    replace: "exitCode,",
    caughtBy: ["packages/paperclip/src/conclude/result.test.ts", suite("recorded")],
  },
  {
    what: "a lost lease of the host cancels the run",
    file: "packages/paperclip/src/observe/cancel.ts",
    find: "if (!/lease lost/i.test(reason)) cancel.abort(new Error(reason));",
    replace: "if (reason !== null) cancel.abort(new Error(reason));",
    caughtBy: ["packages/paperclip/src/observe/cancel.test.ts", suite("cancel-host")],
  },
  {
    what: "a host that is interrupted counts as a cancel",
    file: "packages/paperclip/src/observe/cancel.ts",
    find: 'new Set(["cancelled", "cancelling"])',
    replace: 'new Set(["cancelled", "cancelling", "interrupted"])',
    caughtBy: ["packages/paperclip/src/observe/cancel.test.ts", suite("cancel-host")],
  },
  {
    what: "a saved session that another agent made is restored",
    file: "packages/runner/src/state/manifest.ts",
    find: "if (key !== undefined && signed && !isSame(mac, macOf(line, key)))",
    replace: "if (signed && mac.length < 0)",
    caughtBy: ["packages/runner/src/state/state-signed.test.ts"],
  },
  {
    what: "a saved session without a signature is always restored: leaving it out is enough to forge one",
    file: "packages/runner/src/state/manifest.ts",
    find: "if (key !== undefined && !signed && !acceptUnsigned)",
    replace: "if (acceptUnsigned && !acceptUnsigned)",
    caughtBy: ["packages/runner/src/state/state-signed.test.ts"],
  },
  {
    what: "a member of an archive without a checksum is taken",
    file: "packages/runner/src/state/read-archive.ts",
    find: 'if (hash.digest("hex") !== sha256)',
    replace: 'if (sha256 === "")',
    caughtBy: ["packages/runner/src/state/state-hostile.test.ts"],
  },
  {
    what: "a link in the place of a saved session is followed to wherever it leads",
    file: "packages/runner/src/state/generations.ts",
    find: "const SAFELY = constants.O_NOFOLLOW | constants.O_NONBLOCK;",
    replace: "const SAFELY = constants.O_NONBLOCK;",
    caughtBy: ["packages/runner/src/state/state-hostile.test.ts"],
  },
  {
    what: "an agent's id with a path in it becomes part of a path",
    file: engine("volume/paths.ts"),
    find: "!/^[a-zA-Z0-9-]+$/.test(value)",
    replace: 'value === ""',
    caughtBy: [engine("volume/paths.test.ts"), suite("recorded")],
  },
  {
    what: "a CLI whose output has changed is called a success, although not one of its events was understood",
    file: "packages/adapter-opencode/src/opencode/classify.ts",
    find: 'if (result.unreadable !== null) return fault("truncated", result.unreadable);',
    replace: "",
    caughtBy: ["packages/adapter-opencode/src/opencode/classify.test.ts", suite("recorded")],
  },
  {
    what: "the server's own secrets are given to agents that name them",
    file: "packages/paperclip/src/prepare/inherit/name-rules.ts",
    find: 'if (why !== null && (why.kind === "secret" || !named)) return why;',
    replace: "if (why !== null && !named) return why;",
    caughtBy: ["packages/paperclip/src/prepare/inherit/inherit-env.test.ts"],
  },
];
