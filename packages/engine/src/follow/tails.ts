import type { MetaRecord } from "@paperclip-k8s/runner";
import { log, type RunContext } from "../run-context.ts";
import { MetaReader } from "../volume/meta.ts";

/** Far more than the records of the longest run take; a pod may write anything there, of any length. */
const MAX_META_BYTES = 64 * 1024 * 1024;

export interface Tails {
  /** Reads both files to their end; returns the bytes of output delivered so far. */
  refresh(): Promise<number>;
  close(): void;
}

/** Follows the run's two files: what is in them becomes output for the caller and facts for the run. */
export function openTails(context: RunContext): Tails {
  const { run, volume, io, request } = context;
  const { identity } = run.state;
  const records = new MetaReader({ run: identity.firstRun, nonce: identity.nonce });
  const stalls = {
    onStall: (error: string) => run.observe({ kind: "output-stalled", error }),
    onBack: () => run.observe({ kind: "output-back" }),
  };
  let bytes = 0;
  const output = volume.tail(identity.files.output, {
    ...stalls,
    // The runner keeps to it; a process in the pod may write to the file past the runner.
    ...(request.limits.outputBytes === undefined ? {} : { maxBytes: request.limits.outputBytes }),
    onBytes: async (chunk) => {
      await io.onOutput(chunk);
      bytes += chunk.length;
      run.observe({ kind: "output", bytes });
    },
  });
  const meta = volume.tail(identity.files.meta, {
    ...stalls,
    maxBytes: MAX_META_BYTES,
    onBytes: async (chunk) => {
      for (const record of records.push(chunk)) {
        if (record.type === "end") output.expect(record.written);
        await take(context, record);
      }
    },
  });
  return {
    refresh: async () => {
      await meta.refresh();
      return (await output.refresh()).delivered;
    },
    close: () => {
      output.close();
      meta.close();
    },
  };
}

async function take(context: RunContext, record: MetaRecord): Promise<void> {
  const { run, io } = context;
  switch (record.type) {
    case "start":
      return run.observe({ kind: "start-record", record });
    case "cli-started":
      return run.observe({ kind: "cli-started" });
    case "state":
      return run.observe({ kind: "state-record", record });
    case "stderr":
      return io.onStderr(record.text);
    case "note":
      return log(context, "info", record.text);
    case "end":
      return run.observe({ kind: "end-record", record });
  }
}
