import type { Fault } from "./faults.ts";

const engine = (path: string): string => `packages/engine/src/${path}`;
const suite = (name: string): string => `testbed/suite/src/${name}.test.ts`;

/** What forged records could do. */
export const RECORD_FAULTS: readonly Fault[] = [
  {
    what: "forged: a record is believed whatever its MAC is",
    file: "packages/runner/src/mac.ts",
    find: 'return timingSafeEqual(line.subarray(end), expected) ? Buffer.concat([body, Buffer.from("}")]) : null;',
    replace: 'return timingSafeEqual(expected, expected) ? Buffer.concat([body, Buffer.from("}")]) : null;',
    caughtBy: ["packages/runner/src/mac.test.ts", engine("volume/meta.test.ts"), suite("forged-records")],
  },
  {
    what: "forged: a copy of an earlier record counts again",
    file: engine("record-trust.ts"),
    find: 'if (seq === null || seq <= last) return "foreign";',
    replace: 'if (seq === null) return "foreign";',
    caughtBy: [engine("volume/meta.test.ts"), suite("forged-records")],
  },
  {
    what: "forged: unsigned records count although the Job says that its records are signed",
    file: engine("record-trust.ts"),
    find: 'return trust.kind === "signed" ? bySignature(trust.key) : bySection(owner);',
    replace: "return trust.kind === null ? bySignature(null) : bySection(owner);",
    caughtBy: [engine("volume/meta.test.ts"), suite("forged-records")],
  },
  {
    what: "forged: a server without the secret takes signed records for unsigned ones",
    file: engine("record-trust.ts"),
    find: 'if (format !== RECORDS_FORMAT || secret == null) return { kind: "signed", key: null };',
    replace: 'if (format !== RECORDS_FORMAT || secret == null) return { kind: "unsigned" };',
    caughtBy: [engine("record-trust.test.ts")],
  },
  {
    what: "forged: a termination message is believed whatever its MAC is",
    file: engine("record-trust.ts"),
    find: 'trust.kind === "signed" && !isSignedMessage(message, trust.key);',
    replace: 'trust.kind === "signed" && !isSignedMessage(message, trust.key) && message === "";',
    caughtBy: [engine("outcome/forgeries.test.ts")],
  },
  {
    what: "forged: output that another pod has written is a success",
    file: engine("outcome/ended.ts"),
    find: "return state.delivered > 0 && state.deliveredSha256 !== end.outputSha256;",
    replace: "return false;",
    caughtBy: [engine("outcome/forgeries.test.ts"), suite("forged-records")],
  },
  {
    what: "forged: output behind the end that the runner has counted is a success",
    file: engine("outcome/ended.ts"),
    find: "if (state.delivered > end.written) return end.written === end.bytes;",
    replace: "if (state.delivered > end.written) return false;",
    caughtBy: [engine("outcome/forgeries.test.ts"), suite("forged-records")],
  },
  {
    what: "forged: an unsigned end record ends a run of an earlier version while its container runs",
    file: engine("outcome/ended.ts"),
    find: "return endedAt !== null && (container === null || leavesWith(endRecord, container.exitCode)) ? endRecord : null;",
    replace: "return container === null || leavesWith(endRecord, container.exitCode) || endedAt === null ? endRecord : null;",
    caughtBy: [engine("outcome/unsigned.test.ts"), suite("upgrade")],
  },
  {
    what: "forged: an unsigned end record counts against the termination message of the run's own pod",
    file: engine("outcome/ended.ts"),
    find: "return terminationMessage(state) ?? believedEnd(state);",
    replace: "return believedEnd(state) ?? terminationMessage(state);",
    caughtBy: [engine("outcome/unsigned.test.ts"), suite("upgrade")],
  },
  {
    what: "forged: a session and a cost are taken from an output that others have written",
    file: "packages/paperclip/src/conclude/attempts.ts",
    find: "if (evidence.output.forged) return { report: cli.createParser().report(), fault: null, stderr };",
    replace: "",
    caughtBy: ["packages/paperclip/src/conclude/attempts.test.ts"],
  },
  {
    what: "forged: the operator's sweep removes files by an end record that nobody is proved to have written",
    file: "packages/cli/src/leftovers/run-files.ts",
    find: "end: found?.proved ? found.record : null",
    replace: "end: found?.record ?? null",
    caughtBy: ["packages/cli/src/leftovers/run-files.test.ts"],
  },
  {
    what: "forged: the operator's recover states an end to the host that nobody is proved to have written",
    file: "packages/cli/src/recovery/proof.ts",
    find: "const ends = lastEnd?.proved ?",
    replace: "const ends = lastEnd ?",
    caughtBy: ["packages/cli/src/recovery/decision.test.ts"],
  },
  {
    what: "forged: a secret that every user of the volume may read is used",
    file: engine("volume/child/keep-secret.ts"),
    find: "if (uid !== process.geteuid?.() || (mode & OTHERS) !== 0)",
    replace: "if (uid !== process.geteuid?.())",
    caughtBy: [engine("volume/child/keep-secret.test.ts")],
  },
];
