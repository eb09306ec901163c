import { apiOfRun, type HostApi } from "../../host/api.ts";
import { DETACHED_CODE, type HostRun, readRun } from "../../host/runs.ts";
import type { ExecutionContext } from "../../host/types.ts";
import { endStored, pause } from "./end-stored.ts";

// What the host does with a run after `execute` has returned. Paperclip 2026.916 must have finished with that before it stops: its next server
// refuses the retry of a run for ever if "the previous execution has not released its environment lease".

/** The event with which the host is done: the retry is scheduled, and what the run held is released. */
const LAST_EVENT = /^run scratch clean/;
/** A host that ends with another event has nothing to add after this long. */
const SILENCE_MS = 10_000;
/** A host that cannot be asked is given this long, and is then believed. */
const UNASKED_MS = 1000;
const LOOK_MS = 250;
/** Each question about a run that the host still has as running may cost the run's result: see end-stored.ts. */
const RUNNING_MS = 2000;
/** The first status that a host records need not be the last one. */
const SETTLES_MS = 3000;

/** What can be asked of the host about a run that has returned; asked again and again. */
export interface HostRecord {
  /** Resolves when the rest may be asked. */
  stored(): Promise<void>;
  run(): Promise<Pick<HostRun, "status" | "errorCode"> | null>;
  /** Whether the host has done everything that it does after a run. */
  isFinished(): Promise<boolean>;
}

/** Null = the host cannot be asked. */
export function hostRecord(ctx: ExecutionContext, serverEnv: NodeJS.ProcessEnv): HostRecord | null {
  const api = apiOfRun(ctx, serverEnv);
  if (api === null) return null;
  return { stored: endStored(ctx), run: () => readRun(api, ctx.runId).catch(() => null), isFinished: finishedReader(api, ctx.runId) };
}

function finishedReader(api: HostApi, runId: string): HostRecord["isFinished"] {
  let seen = 0;
  let lastEventAt: number | null = null;
  return async () => {
    const answer = await api.get(`/heartbeat-runs/${encodeURIComponent(runId)}/events?afterSeq=${seen}`).catch(() => []);
    const events: readonly { readonly seq?: number; readonly message?: string | null }[] = Array.isArray(answer) ? answer : [];
    if (lastEventAt === null || events.length > 0) lastEventAt = Date.now();
    seen = Math.max(seen, ...events.map(({ seq }) => seq ?? 0));
    return events.some(({ message }) => LAST_EVENT.test(message ?? "")) || Date.now() - lastEventAt >= SILENCE_MS;
  };
}

/** Whether the host has recorded the run as detached and finished with it. The answer comes at the deadline at the latest, whatever calls are under way. */
export async function isRecorded(record: HostRecord | null, deadline: number): Promise<boolean> {
  if (record === null) return pause(Math.min(UNASKED_MS, deadline - Date.now())).then(() => true);
  const recorded = async () => {
    await record.stored();
    return (await isTaken(record, deadline)) && (await untilTrue(() => record.isFinished(), deadline));
  };
  return byDeadline(recorded(), deadline);
}

/** What a promise resolves to, or false at the deadline. */
export async function byDeadline(promise: Promise<boolean>, deadline: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, deadline - Date.now()));
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** False = the host failed at recording it, and will start nothing by itself. */
async function isTaken(record: HostRecord, deadline: number): Promise<boolean> {
  for (let failedAt: number | null = null; Date.now() <= deadline; await pause(failedAt === null ? RUNNING_MS : LOOK_MS)) {
    const run = await record.run();
    if (run === null || run.status === "running") continue;
    if (run.status !== "failed" || run.errorCode === DETACHED_CODE) return true;
    failedAt ??= Date.now();
    if (Date.now() - failedAt >= SETTLES_MS) return false;
  }
  return false;
}

async function untilTrue(ask: () => Promise<boolean>, deadline: number): Promise<boolean> {
  for (; Date.now() <= deadline; await pause(LOOK_MS)) if (await ask()) return true;
  return false;
}
