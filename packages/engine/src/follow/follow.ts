import { cancelReason, type RunContext, say } from "../run-context.ts";
import type { RunOutcome } from "../run-outcome.ts";
import { createKeepalive } from "../status/keepalive.ts";
import { createStatusLog } from "../status/status-lines.ts";
import { MetaReader } from "../volume/meta.ts";
import type { Tail } from "../volume/volume.ts";
import { explain } from "./read-events.ts";
import { stopJob } from "./stop-job.ts";

const TICK_MS = 250;

/** Listens to the cluster, the files, the caller and the clock until the reducer knows how the run ended. */
export async function follow(context: RunContext): Promise<RunOutcome> {
  const { run, watch, clock, io } = context;
  const uid = run.state.identity.jobUid;
  if (uid === null) return run.settled;
  const { output, meta } = openTails(context);
  const onCancel = () => run.observe({ kind: "cancel-asked", reason: cancelReason(io.signal) });
  const { detach } = io;
  const onDetach = () => detach && run.observe({ kind: "detach-asked", reason: cancelReason(detach) });
  const narrate = createStatusLog();
  const stops = [
    run.onChange((before, after) => {
      for (const line of narrate(before, after)) say(context, line.level, line.text);
    }),
    once(
      run,
      (state) => state.cancel !== null,
      () => void stopJob(context, uid),
    ),
    once(
      run,
      (state) => state.overAt !== null,
      () => void drain(context, output, meta),
    ),
    clock.every(TICK_MS, () => run.observe({ kind: "tick" })),
    explain(context, uid),
    keepalive(context),
  ];
  // After the listeners: it tells at once what is known already, and that belongs to the story.
  const subscription = watch.subscribe(run.state.identity.jobName, (fact) => run.observe(fact), uid);
  io.signal.addEventListener("abort", onCancel);
  if (io.signal.aborted) onCancel();
  detach?.addEventListener("abort", onDetach);
  if (detach?.aborted) onDetach();
  try {
    return await run.settled;
  } finally {
    io.signal.removeEventListener("abort", onCancel);
    detach?.removeEventListener("abort", onDetach);
    for (const stop of stops) stop();
    subscription.close();
    output.close();
    meta.close();
  }
}

function openTails(context: RunContext): { output: Tail; meta: Tail } {
  const { run, volume, io } = context;
  const { identity } = run.state;
  const records = new MetaReader({ run: identity.firstRun, nonce: identity.nonce });
  const sight = {
    onStall: (error: string) => run.observe({ kind: "output-stalled", error }),
    onBack: () => run.observe({ kind: "output-back" }),
  };
  let bytes = 0;
  const output = volume.tail(identity.files.output, {
    ...sight,
    onBytes: async (chunk) => {
      await io.onOutput(chunk);
      bytes += chunk.length;
      run.observe({ kind: "output", bytes });
    },
  });
  const meta = volume.tail(identity.files.meta, {
    ...sight,
    onBytes: async (chunk) => {
      for (const record of records.push(chunk)) {
        if (record.type === "start") run.observe({ kind: "start-record", record });
        else if (record.type === "cli-started") run.observe({ kind: "cli-started" });
        else if (record.type === "state") run.observe({ kind: "state-record", record });
        else if (record.type === "stderr") await io.onStderr(record.text);
        else if (record.type === "note") say(context, "info", record.text);
        else if (record.type === "end") {
          output.expect(record.written);
          run.observe({ kind: "end-record", record });
        }
      }
    },
  });
  return { output, meta };
}

/** Fresh looks at both files, again and again, from the moment the run is known to be over until it is settled. */
async function drain({ run, clock }: RunContext, output: Tail, meta: Tail): Promise<void> {
  while (run.state.outcome === null) {
    try {
      await meta.refresh();
      const { delivered } = await output.refresh();
      run.observe({ kind: "drained", bytes: delivered });
    } catch (error) {
      run.observe({ kind: "output-stalled", error: error instanceof Error ? error.message : String(error) });
    }
    await clock.sleep(TICK_MS);
  }
}

function keepalive(context: RunContext): () => void {
  const next = createKeepalive(context.run.timeouts.keepalive);
  return context.clock.every(1000, () => {
    const line = next(context.run.state);
    if (line !== null) say(context, line.level, line.text);
  });
}

/** Acts the first time a state fulfils the condition. */
function once(run: RunContext["run"], condition: (state: RunContext["run"]["state"]) => boolean, act: () => void): () => void {
  let done = false;
  return run.onChange((_, after) => {
    if (done || !condition(after) || after.outcome !== null) return;
    done = true;
    act();
  });
}
