import type { RunOutcome } from "@paperclip-k8s/engine";
import type { FaultKind } from "../agent-cli/fault.ts";
import type { RunIssue } from "../host/issue.ts";
import { cleanLine } from "../observe/clean-text.ts";
import { formLabel } from "../settings/setting-name.ts";
import type { AttemptResult, LeftToOthers } from "./attempts.ts";
import { type Failure, whoMayWork } from "./failure.ts";
import type { Way } from "./way-out.ts";

// What a failure says on the issue's page: what happened, what to do and where, how the work goes on. The run's page has the whole message.

/** The most of any message that is shown. */
const MESSAGE_CHARS = 400;

/** What happened, and what to change first; null = nothing needs to be changed. */
interface Explanation {
  readonly what: string;
  readonly change: string | null;
}

/** Of what is left to others there is no summary. */
type Explained = AttemptResult & { readonly outcome: Exclude<RunOutcome, LeftToOthers> };

/** The words for the issue's page. */
export function summaryOf(result: Explained, failure: Failure, way: Way, issue: RunIssue): string {
  const { what, change } = explain(result, failure, onPage(issue, result.attempt.inputs.cli.inPlace !== undefined));
  return sentences(what, change, goesOn(way, issue, change !== null));
}

/** The same for a run of which nothing was started. `isOnForm`: the agent's form has the setting that the message names. */
export function notPreparedSummary(message: string, isOnForm: boolean, way: Way, issue: RunIssue): string {
  const correct = isOnForm ? `Correct it on the agent's ${issue.settingsPage} page.` : null;
  return sentences(`The agent was not started: ${ended(brief(message))}`, correct, goesOn(way, issue, isOnForm));
}

const sentences = (...parts: readonly (string | null)[]): string => parts.filter((part) => part !== null).join(" ");

function goesOn(way: Way, { name, holdsUnprovedEnds, isLastRetry }: RunIssue, isChanged: boolean): string {
  switch (way) {
    case "person":
      return isChanged ? "Then comment here or set this issue to todo." : "Comment here or set this issue to todo to run it again.";
    case "retry":
      return "Paperclip tries again by itself.";
    case "continue":
      return isLastRetry ? "Comment here to continue." : "Paperclip continues by itself; if it stops, comment here to continue.";
    case "free":
      return isChanged ? "Then comment here to continue." : "Comment here to continue.";
    case "held":
      if (!holdsUnprovedEnds) return "Paperclip may start it again by itself.";
      return `Paperclip starts nothing here until an operator has looked: \`paperclip-k8s recover --issue ${name ?? "<issue>"}\` shows what is known. It releases the issue once the end is proved, or with \`--stopped "how you know it"\`.`;
  }
}

function explain(result: Explained, failure: Failure, setting: SettingText): Explanation {
  const { outcome, fault } = result;
  switch (outcome.kind) {
    case "exited":
      return explainExit(result, failure, setting);
    case "cancelled":
      return outcome.stopped
        ? {
            what: "The run was cancelled, and the agent has stopped.",
            change: /\bpaused?\b/i.test(outcome.reason) ? "Resume the agent." : null,
          }
        : { what: `The run was cancelled, but ${whoMayWork(outcome, podOf(outcome))} has not confirmed that it stopped.`, change: null };
    case "timed-out":
      if (fault?.kind === "quota") return explainFault("quota", failure.errorMessage, setting);
      return {
        what: `The run reached its time limit${limitOf(result)} and was ended.`,
        change: setting("If the task needs more time, raise", "timeoutSec"),
      };
    case "never-started":
      return {
        what: `The agent did not start: ${ended(ours(outcome.message))}`,
        change: whatToCheck(outcome, setting) ?? (outcome.permanent ? "Correct that first." : null),
      };
    case "killed":
      return explainKill(outcome, setting);
    case "deleted":
      return { what: ended(capital(ours(outcome.message))), change: null };
    case "blocked":
      return { what: `The agent did not start: ${ended(ours(outcome.message))}`, change: null };
    case "end-unknown":
    case "reattach-failed":
      return {
        what: `How the agent ended is not known: ${ended(ours(outcome.message))} Job ${jobOf(outcome)} is left as it is.`,
        change: null,
      };
  }
}

/** The field of the form from which the cause most likely comes. */
function whatToCheck({ cause }: Extract<RunOutcome, { kind: "never-started" }>, setting: SettingText): string | null {
  if (cause === "image") return setting("Check", "image");
  return cause === "cli-missing" ? setting("Check", "command") : null;
}

function explainKill(outcome: Extract<RunOutcome, { kind: "killed" }>, setting: SettingText): Explanation {
  const what = ended(capital(ours(outcome.message)));
  switch (outcome.by) {
    case "oom":
      return { what: `The agent ran out of memory${figures(outcome)}.`, change: setting("Raise", "resources.limits.memory") };
    case "output-limit":
      return { what, change: "Have the agent print less, or raise `limits.outputBytes` in the operator's policy." };
    case "node-loss":
      if (outcome.evidence.proof !== "none") return { what, change: null };
      return { what: `${what} The agent may still work there.`, change: "Bring the node back or remove it." };
    case "runner":
      return { what, change: "Report it, with the message on the run's page." };
    default:
      return { what, change: outcome.remedy === null ? null : `To avoid it: ${ended(ours(outcome.remedy))}` };
  }
}

function explainExit({ outcome, fault }: AttemptResult, { errorCode, errorMessage }: Failure, setting: SettingText): Explanation {
  const { evidence } = outcome;
  if (errorCode === "k8s_oom_killed")
    return {
      what: `A program of the agent ran out of memory${figures(outcome)}, and then the CLI failed.`,
      change: setting("Raise", "resources.limits.memory"),
    };
  if (evidence.output.forged)
    return {
      what: "Another program has written to this run's output, so nothing in it counts.",
      change: "Look for the agent that can write there.",
    };
  if (errorCode === "k8s_output_incomplete")
    return { what: `The agent ended, but a part of its output is missing. Job ${jobOf(outcome)} is kept.`, change: null };
  if (errorCode === "llm_api_error")
    return {
      what: "The model sent an empty answer.",
      change: setting("If that happens again, look at the provider's status and at", "model"),
    };
  // What the CLI names itself needs no exit code beside it.
  const isNamed = fault !== null && fault.kind !== "other" && fault.kind !== "truncated";
  return explainFault(fault?.kind ?? "other", isNamed ? fault.message : errorMessage, setting);
}

/** What CLIs say that were given no key at all; to log in, as they propose, nobody can in a pod. */
const NO_KEY = /\bnot logged in\b|\brun \/login\b|\b(no|missing) api key\b|\bapi key is missing\b/i;

function explainFault(kind: FaultKind, message: string, setting: SettingText): Explanation {
  const said = quoted(message);
  switch (kind) {
    case "auth":
      if (NO_KEY.test(message)) return { what: "The agent has no key for the model's provider.", change: setting("Set one under", "env") };
      return { what: `The model's provider did not accept the key: ${said}.`, change: setting("Set a valid key under", "env") };
    case "model-not-found":
      return { what: `The model is not known, or the key may not use it: ${said}.`, change: setting("Choose another", "model") };
    case "bad-arguments":
      return { what: `The CLI did not accept its arguments: ${said}.`, change: setting("Correct", "extraArgs") };
    case "bad-request":
      return { what: `The model's provider refused the request: ${said}.`, change: setting("Change the task, or choose another", "model") };
    case "context-overflow":
      return {
        what: "The conversation is longer than the model accepts; the next run begins a new one.",
        change: setting("Make the task smaller, or choose another", "model"),
      };
    case "quota":
      return { what: `A limit of the model's provider is used up: ${said}.`, change: null };
    case "transient":
      return { what: `The model's provider was busy or failed: ${said}.`, change: null };
    case "step-limit":
      return { what: `The run used up its turns: ${said}.`, change: null };
    case "refusal":
      return { what: `The model declined the task: ${said}.`, change: "If it does so again, word the task differently." };
    case "unknown-session":
    case "corrupted-session":
      return { what: `The session cannot go on, so the next run begins a new one: ${said}.`, change: null };
    case "truncated":
    case "other":
      return { what: `The agent's CLI failed: ${said}.`, change: "The run's page has its last output." };
  }
}

/** What to do with a field of the form, and where that is. */
type SettingText = (verb: string, key: string) => string;
const onPage =
  ({ settingsPage }: RunIssue, isInPlace: boolean): SettingText =>
  (verb, key) =>
    isInPlace && !OF_THE_HOST.has(key)
      ? `${verb} \`${key}\` for this agent in the operator's policy: its page has no field for it.`
      : `${verb} **${formLabel(key) ?? key}** on the agent's ${settingsPage} page.`;

/** What the host's own form asks for: all that agents of a built-in type have a field for. */
const OF_THE_HOST: ReadonlySet<string> = new Set(["command", "model", "extraArgs", "env", "timeoutSec", "graceSec"]);

function limitOf({ outcome, attempt }: Explained): string {
  const { timeoutSec } = attempt.inputs.config;
  return outcome.kind === "timed-out" && outcome.by === "runner" && timeoutSec > 0 ? ` of ${timeoutSec} s` : "";
}

const figures = ({ evidence: { memory } }: RunOutcome): string => (memory.limit === null ? "" : ` (limit ${memory.limit})`);
const jobOf = ({ evidence }: RunOutcome): string => `${evidence.namespace}/${evidence.jobName}`;
const podOf = ({ evidence }: RunOutcome): string =>
  evidence.podName === null ? "its pod" : `pod ${evidence.namespace}/${evidence.podName}`;

/** A message of the engine, which knows settings by their keys only. */
const ours = (text: string): string =>
  brief(text).replaceAll(/\b[a-z]+(?:\.[a-z]+)+\b|\b[a-z]+[A-Z]\w*\b/g, (key) => formLabel(key) ?? key);

const brief = (text: string): string => cleanLine(text, MESSAGE_CHARS);
const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
const ended = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** As code, so that nothing in it works as Markdown or calls somebody. */
const quoted = (text: string): string => `\`${brief(text).replace(/\.$/, "").replaceAll("`", "'")}\``;
