import type { RunOutcome, RunRequest } from "@paperclip-k8s/engine";
import type { EnvironmentCheck } from "../../host/types.ts";
import { check } from "../check.ts";

interface ProbeFacts {
  readonly request: RunRequest;
  /** The pod has reported something of itself. */
  readonly reported: boolean;
  readonly waitedMs: number;
  /** The run's last warning, which is often the reason that it did not get further. */
  readonly lastWarning: string | null;
}

/** How the probe ended, as checks. */
export function probeOutcome(outcome: RunOutcome, facts: ProbeFacts): readonly EnvironmentCheck[] {
  const { root } = facts.request.output;
  switch (outcome.kind) {
    case "exited":
      if (!outcome.evidence.output.complete)
        return [check("error", "volume_not_shared", `The pod ran, but the server did not see what it wrote below ${root}`)];
      if (outcome.exitCode !== 0)
        return [check("error", "probe_failed", `The pod's self-check ended with exit code ${outcome.exitCode ?? "none"}`)];
      return [ran(outcome), check("info", "volume_shared", `What the pod writes below ${root} is seen by the server`)];
    case "never-started":
      return [notStarted(outcome, facts)];
    case "cancelled":
      return [tooSlow(facts)];
    default: {
      const why = "message" in outcome ? `: ${outcome.message}` : "";
      return [check("error", "probe_failed", `The probe's pod ended early (${outcome.kind})${why}`)];
    }
  }
}

function ran({ evidence }: RunOutcome): EnvironmentCheck {
  const { started, cliOver } = evidence.timings;
  const times = [started === null ? [] : [`started after ${seconds(started)}`], cliOver === null ? [] : [`done after ${seconds(cliOver)}`]];
  const node = evidence.node === null ? [] : [`on node ${evidence.node}`];
  return check("info", "probe_ran", `A pod like a run's ran: ${[...times.flat(), ...node].join(", ")}`);
}

function tooSlow({ reported, waitedMs, lastWarning }: ProbeFacts): EnvironmentCheck {
  const state = reported ? "finished" : "started";
  const why = lastWarning === null ? "" : `: ${lastWarning}`;
  return check("warn", "probe_slow", `The probe's pod had not ${state} after ${seconds(waitedMs)}${why}`);
}

function notStarted({ cause, message }: Extract<RunOutcome, { kind: "never-started" }>, { request }: ProbeFacts): EnvironmentCheck {
  switch (cause) {
    case "image":
      return check("error", "probe_image", `Image ${request.container.image}: ${message}`);
    case "job-create-failed":
    case "secret-create-failed":
      return check("error", "probe_not_created", message);
    case "volume-unusable":
      return check("error", "volume_not_shared", message);
    case "unschedulable":
      return check("warn", "probe_slow", `No node has taken the probe's pod yet: ${message}`);
    case "runtime-missing":
    case "runtime-too-old":
      return check("error", "runtime_missing", message);
    default:
      return check("error", "probe_not_started", message);
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
