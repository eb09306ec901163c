import { expect, test } from "vitest";
import type { CliFault, FaultKind } from "../agent-cli/fault.ts";
import { issueOf } from "../host/issue.ts";
import { exampleEvidence, exampleResult, exited, type OutcomeKind } from "../testing/example-attempt.ts";
import { hostContext } from "../testing/host-context.ts";
import { isLeftToOthers } from "./attempts.ts";
import { failureOf } from "./failure.ts";
import { conclude } from "./result.ts";
import { summaryOf } from "./summary.ts";
import { type Way, wayOut } from "./way-out.ts";

const context = { paperclipIssue: { id: "id-1", identifier: "PAP-7" } };
const issue = issueOf(hostContext({ context }).ctx);

function summary(outcome: OutcomeKind, fault: CliFault | null = null, from = issue, evidence = {}): string {
  const last = exampleResult(outcome, { fault, report: { text: "" }, evidence });
  const failure = failureOf(last);
  const left = isLeftToOthers(last.outcome);
  if (failure === null || left) throw new Error("no failure to explain");
  return summaryOf({ ...last, outcome: last.outcome }, failure, wayOut({ earlier: [], last }, failure, "ses", false).way, from);
}
const faultOf = (kind: FaultKind, message = "m"): CliFault => ({ kind, message, retryAfterSec: null });
const killed = (by: string, message = "m"): OutcomeKind => ({ kind: "killed", by, message, remedy: null, exitCode: 137 }) as OutcomeKind;

test.each<[string, string, string]>([
  [
    "a key",
    summary(exited(1), faultOf("auth", "invalid key.")),
    "The model's provider did not accept the key: `invalid key`. Set a valid key under **Environment variables** on the agent's Runtime page. Then comment here or set this issue to todo.",
  ],
  [
    "memory",
    summary(killed("oom")),
    "The agent ran out of memory (limit 8Gi). Raise **Memory limit** on the agent's Runtime page. Then comment here or set this issue to todo.",
  ],
  [
    "a deleted Job",
    summary({ kind: "deleted", what: "job", message: "Job j was deleted from outside", exitCode: 143 }),
    "Job j was deleted from outside. Comment here or set this issue to todo to run it again.",
  ],
  [
    "an unknown end",
    summary({ kind: "end-unknown", message: "its pod was not seen" }),
    'How the agent ended is not known: its pod was not seen. Job agents/job is left as it is. Paperclip starts nothing here until an operator has looked: `paperclip-k8s recover --issue PAP-7` shows what is known. It releases the issue once the end is proved, or with `--stopped "how you know it"`.',
  ],
  [
    "a time limit",
    summary({ kind: "timed-out", by: "runner", exitCode: 143 }),
    "The run reached its time limit and was ended. If the task needs more time, raise **Timeout (sec)** on the agent's Runtime page. Paperclip continues by itself; if it stops, comment here to continue.",
  ],
  [
    "a pause",
    summary({ kind: "cancelled", reason: "Cancelled due to agent pause", exitCode: 143, stopped: true }),
    "The run was cancelled, and the agent has stopped. Resume the agent. Then comment here to continue.",
  ],
  ["an eviction", summary(killed("eviction", "the pod was evicted")), "The pod was evicted. Paperclip tries again by itself."],
])("%s: what happened, what to do and where, how it goes on", (_, text, expected) => {
  expect(text).toBe(expected);
});

test("what names no field itself comes with the field: an image, a program, a key that is not there", () => {
  const unstarted = (cause: "image" | "cli-missing") =>
    summary({ kind: "never-started", cause, message: "m", permanent: false } as OutcomeKind);
  expect(unstarted("image")).toBe(
    "The agent did not start: m. Check **Image** on the agent's Runtime page. Paperclip tries again by itself.",
  );
  expect(unstarted("cli-missing")).toContain("Check **Command** on the agent's Runtime page.");
  expect(summary(exited(1), faultOf("auth", "Not logged in · Please run /login"))).toMatch(
    /^The agent has no key for the model's provider\. Set one under \*\*/,
  );
  expect(summary(exited(1), faultOf("auth", "invalid x-api-key"))).toContain("did not accept the key: `invalid x-api-key`");
});

test("after the host's last retry nothing is promised that does not come", () => {
  const last = issueOf(hostContext({ context: { ...context, scheduledRetryAttempt: 2 } }).ctx);
  expect(summary({ kind: "timed-out", by: "runner", exitCode: 143 }, null, last)).toMatch(/Runtime page\. Comment here to continue\.$/);
});

test("a node that is lost with a proved end has nothing that may still work there", () => {
  expect(summary(killed("node-loss"), null, issue, { proof: "end-record" })).not.toContain("may still work");
  expect(summary(killed("node-loss"), null, issue, { proof: "none" })).toContain("The agent may still work there.");
});

test("an agent of a built-in type is sent to its page only for what that has a field for", () => {
  const last = exampleResult(killed("oom"), { report: { text: "" } });
  const inputs = { ...last.attempt.inputs, cli: { ...last.attempt.inputs.cli, inPlace: { ownType: "example_k8s" } } };
  const inPlace = { ...last, attempt: { ...last.attempt, inputs } };
  const failure = failureOf(inPlace)!;
  if (isLeftToOthers(inPlace.outcome)) throw new Error("no failure to explain");
  const said = (outcome: OutcomeKind) =>
    summaryOf({ ...inPlace, outcome: { ...inPlace.outcome, ...outcome } as never }, failure, "person", issue);
  expect(said(killed("oom"))).toContain(
    "Raise `resources.limits.memory` for this agent in the operator's policy: its page has no field for it.",
  );
  expect(said({ kind: "timed-out", by: "runner", exitCode: 143 })).toContain("raise **Timeout (sec)** on the agent's Runtime page.");
});

test("the engine's messages name settings as the form does", () => {
  const message = "no node took the pod; lower resources.requests.cpu, now 500; gave up after 600 s (scheduleTimeoutSec)";
  expect(summary({ kind: "never-started", cause: "unschedulable", message, permanent: false })).toBe(
    "The agent did not start: no node took the pod; lower CPU request, now 500; gave up after 600 s (Scheduling timeout (sec)). Paperclip tries again by itself.",
  );
});

test("a host that holds nothing is not said to, and its page has another name", () => {
  const older = issueOf(hostContext({ context, change: { onCancellationReady: undefined } }).ctx);
  expect(summary(killed("oom"), null, older)).toContain("**Memory limit** on the agent's Configuration page");
  expect(summary({ kind: "end-unknown", message: "m" }, null, older)).not.toContain("recover");
});

test("what others said is cut, stands in one line, and works neither as Markdown nor as a mention", () => {
  const said = summary(exited(1), faultOf("other", `\`x\` **b**\n[a](b) @everyone ${"y".repeat(10_000)}`));
  expect(said).toMatch(/^The agent's CLI failed: `'x' \*\*b\*\* \[a\]\(b\) @everyone y+…`\. /);
  expect(said.length).toBeLessThan(700);
  expect(said).not.toContain("\n");
});

/** The host posts no summary that begins like an agent's thoughts. */
const OPENERS = /^(let me|i'll|i'm going|i need to|i can see|now i'll|next, i'll|looking at|fetching|checking|first,)/i;

test("every failure has a short summary that the host posts; a success has the agent's own words", () => {
  const kinds: FaultKind[] = ["unknown-session", "corrupted-session", "auth", "model-not-found", "bad-arguments", "bad-request", "quota"];
  kinds.push("transient", "context-overflow", "step-limit", "refusal", "truncated", "other");
  const texts = [
    ...kinds.map((kind) => summary(exited(1), faultOf(kind))),
    ...["oom", "output-limit", "eviction", "preemption", "node-loss", "runner"].map((by) => summary(killed(by))),
    summary(exited(0), null, issue, { output: { ...exampleEvidence.output, complete: false } }),
    summary(exited(0), null, issue, { output: { ...exampleEvidence.output, forged: true } }),
    summary({ kind: "cancelled", reason: "r", exitCode: 143, stopped: true }),
    summary({ kind: "cancelled", reason: "r", exitCode: null, stopped: false }),
    summary({ kind: "never-started", cause: "image", message: "m", permanent: true }),
    summary({ kind: "blocked", code: null, message: "m", byJob: "j", byRun: null }),
    summary({ kind: "reattach-failed", message: "m" }),
  ];
  for (const text of texts) {
    expect(text).toMatch(/^[A-Z].*\.$/);
    expect(text).not.toMatch(OPENERS);
    expect(text).not.toMatch(/undefined|null|\.`?\./);
  }
  expect(conclude({ earlier: [], last: exampleResult(exited(0)) })).toMatchObject({ way: null, result: { summary: "done" } });
  const left: Way | null = conclude({ earlier: [], last: exampleResult({ kind: "detached", reason: "r" }) }).way;
  expect(left).toBe("retry");
});
