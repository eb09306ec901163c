/** What becomes of an issue in a situation, and what `recover` says and does about it. */
export interface Situation {
  readonly name: string;
  /** Settings of an agent whose adapter returns what they say. */
  readonly config: Readonly<Record<string, unknown>>;
  /** What stands in the list. */
  readonly listed: RegExp;
  /** What `--issue` answers after somebody has repaired the agent. */
  readonly named: RegExp;
  /** Nothing but an operator's own statement releases it. */
  readonly needsStatement?: true;
}

const failed = (errorCode: string, resultJson: object, more: object = {}) => ({
  result: { exitCode: 1, signal: null, timedOut: false, errorCode, errorMessage: `Failed: ${errorCode}`, resultJson, ...more },
});
const seen = (outcome: string, proof = "end-record") => ({ outcome, proof, job: "agents/agent-example" });

/** An issue that was held for long may be held twice by then. */
export const RELEASED = /: released \(mixed(, of \d+ holds)?\); run [0-9a-f-]{36} follows/;
const ENDED = /ended: the agent .*the host has its result; not lost by a restart: --issue/;
const UNKNOWN = /unknown: no Job of this run is found/;
/** Until somebody says how he knows it. */
const HOW_KNOWN = /--stopped "how you know it"/;

/** Ends that a host of 2026.916 holds. What our adapters return today is held only where nobody knows the end; earlier versions were held after each of these. */
export const SITUATIONS: readonly Situation[] = [
  { name: "no key for the model", config: failed("auth_required", seen("exited")), listed: ENDED, named: RELEASED },
  {
    name: "time limit",
    config: failed("timeout", seen("timed-out"), { timedOut: true, exitCode: null }),
    listed: ENDED,
    named: RELEASED,
  },
  { name: "out of memory", config: failed("k8s_oom_killed", seen("killed", "container-state")), listed: ENDED, named: RELEASED },
  { name: "its Job deleted, its end seen", config: failed("k8s_job_deleted_externally", seen("deleted")), listed: ENDED, named: RELEASED },
  { name: "never started", config: failed("k8s_pod_schedule_failed", seen("never-started", "none")), listed: ENDED, named: RELEASED },
  {
    name: "its end not seen",
    config: failed("k8s_job_state_mismatch", seen("end-unknown", "none")),
    listed: UNKNOWN,
    named: HOW_KNOWN,
    needsStatement: true,
  },
  {
    name: "its Job deleted unseen",
    config: failed("k8s_job_deleted_externally", seen("deleted", "none")),
    listed: UNKNOWN,
    named: HOW_KNOWN,
    needsStatement: true,
  },
  { name: "the adapter threw", config: { throws: "deadlock detected" }, listed: UNKNOWN, named: HOW_KNOWN, needsStatement: true },
  {
    name: "a setting to repair",
    config: failed("configuration_incomplete", {}, { executionRecovery: { kind: "bootstrap", providerWorkStarted: false } }),
    listed: /waits for you: Failed: configuration_incomplete\. Repair that, then set the issue to todo or run recover --issue/,
    named: /: set to todo; run [0-9a-f-]{36} follows/,
  },
];
