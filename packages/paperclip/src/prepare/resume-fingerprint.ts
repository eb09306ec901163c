import type { Adoption } from "@paperclip-k8s/engine";
import { ANNOTATION } from "../host/keys.ts";
import { groundOf, type Turn } from "./attempt.ts";
import { recordOf, textOf } from "./environment/context-values.ts";
import { workspaceOf } from "./environment/workspace.ts";
import { chooseSession, type SessionChoice, type SessionGround, sessionParamsOut } from "./session.ts";

/** The Job's own mark of what its session rests on: who takes it over may have been set up otherwise. */
export function resumeFingerprint({ podCwd, stateMode, bundleKey, mcpIdentity }: SessionGround): Readonly<Record<string, string>> {
  return { [ANNOTATION.ground]: JSON.stringify({ podCwd, stateMode, bundleKey, mcpIdentity }) };
}

/** What the session of a Job that was taken over rests on; null = the Job does not say. */
export function groundOfJob({ job }: Pick<Adoption, "job">): SessionGround | null {
  const noted = recordOf(parsed(job.annotations[ANNOTATION.ground]));
  const podCwd = textOf(noted.podCwd);
  const stateMode = textOf(noted.stateMode);
  if (podCwd === null || stateMode === null) return null;
  return { podCwd, stateMode, bundleKey: textOf(noted.bundleKey), mcpIdentity: textOf(noted.mcpIdentity) };
}

/** The session of a Job that was taken over, as far as a turn of this run's own may go on with it. */
export function resumableBehind(adopted: Pick<Adoption, "job">, turn: Turn, sessionId: string | null): SessionChoice {
  const { ctx, cwd, config } = turn;
  const workspace = workspaceOf(ctx.context, config.cwd);
  const made = { sessionId, previous: ctx.runtime.sessionParams, cwd, ground: groundOfJob(adopted), workspace };
  const sessionParams = sessionParamsOut(made);
  if (sessionId !== null && sessionParams === null)
    return { sessionId: null, note: `Job ${adopted.job.name} does not say what its session ${sessionId} rests on; starting a fresh one` };
  return chooseSession({ ...ctx.runtime, sessionId: null, sessionParams }, groundOf(turn));
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return null;
  }
}
