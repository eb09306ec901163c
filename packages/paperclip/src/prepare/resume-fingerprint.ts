import type { Adoption } from "@paperclip-k8s/engine";
import { parseFields } from "../agent-cli/json-fields.ts";
import { textOf } from "../host/context-values.ts";
import { ANNOTATION } from "../host/keys.ts";
import type { RunInputs } from "./attempt.ts";
import { workspaceOf } from "./environment/workspace.ts";
import { connectionInstructions } from "./prompt/connection-instructions.ts";
import { chooseSession, type ResumeFingerprint, type SessionChoice, sessionParamsOut } from "./session.ts";

/** What a session of this run depends on. */
export function fingerprintOf({ ctx, cli, cwd, bundle, mcp, state }: RunInputs): ResumeFingerprint {
  const mcpIdentity = cli.usesMcpServers ? mcp.identity : null;
  const earlier = state.mode === "portable" ? (state.earlier ?? null) : null;
  const stateKey = state.mode === "portable" ? state.key : null;
  return {
    podCwd: cwd,
    stateMode: state.mode,
    stateKey,
    idPattern: cli.sessionId ?? null,
    bundleKey: bundle?.key ?? null,
    mcpIdentity,
    connectionsDigest: connectionInstructions(ctx.context)?.digest ?? null,
    earlier,
  };
}

/** Noted on the Job, because the run that takes it over may have other settings. */
export function fingerprintAnnotation(fingerprint: ResumeFingerprint): Readonly<Record<string, string>> {
  const { podCwd, stateMode, stateKey, bundleKey, mcpIdentity, connectionsDigest } = fingerprint;
  const noted = { podCwd, stateMode, ...(stateKey == null ? {} : { stateKey }), bundleKey, mcpIdentity, connectionsDigest };
  return { [ANNOTATION.fingerprint]: JSON.stringify(noted) };
}

/** The fingerprint noted on a Job that was taken over; null = the Job has none. */
export function fingerprintOfJob({ job }: Pick<Adoption, "job">): ResumeFingerprint | null {
  const noted = parseFields(job.annotations[ANNOTATION.fingerprint] ?? "") ?? {};
  const podCwd = textOf(noted.podCwd);
  const stateMode = textOf(noted.stateMode);
  if (podCwd === null || stateMode === null) return null;
  return {
    podCwd,
    stateMode,
    stateKey: textOf(noted.stateKey),
    bundleKey: textOf(noted.bundleKey),
    mcpIdentity: textOf(noted.mcpIdentity),
    connectionsDigest: textOf(noted.connectionsDigest),
  };
}

/** Whether this run's own attempt may resume the session of a Job that it took over. */
export function sessionAfterAdoption(adopted: Pick<Adoption, "job">, inputs: RunInputs, sessionId: string | null): SessionChoice {
  const { ctx, cwd, config } = inputs;
  const workspace = workspaceOf(ctx.context, config.cwd);
  const fingerprint = fingerprintOfJob(adopted);
  const sessionParams = sessionParamsOut({ sessionId, previous: ctx.runtime.sessionParams, cwd, fingerprint, workspace });
  if (sessionId !== null && sessionParams === null)
    return { sessionId: null, note: `Job ${adopted.job.name} does not say what its session ${sessionId} rests on; starting a fresh one` };
  return chooseSession({ ...ctx.runtime, sessionId: null, sessionParams }, fingerprintOf(inputs));
}
