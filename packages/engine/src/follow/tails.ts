import { createHash } from "node:crypto";
import type { MetaRecord } from "@paperclip-k8s/runner";
import type { WakeUpKind } from "@paperclip-k8s/runner/wake-up";
import { wakeUpTokenOf } from "../record-trust.ts";
import { log, type RunContext } from "../run-context.ts";
import { MAX_META_BYTES, MetaReader } from "../volume/meta.ts";

export interface Tails {
  /** Reads both files to their end; returns the bytes of output delivered so far. */
  refresh(): Promise<number>;
  close(): void;
}

/** Follows the run's two files: what is in them becomes output for the caller and facts for the run. */
export function openTails(context: RunContext): Tails {
  const { run, volume } = context;
  const { identity } = run.state;
  const records = new MetaReader({ run: identity.firstRun, nonce: identity.nonce }, identity.records);
  const stalls = {
    onStall: (error: string, passes: boolean) => run.observe({ kind: "output-stalled", error, passes }),
    onBack: () => run.observe({ kind: "output-back" }),
  };
  const delivery = createDelivery(context);
  const token = wakeUpTokenOf(identity.records);
  const wokenBy = (kind: WakeUpKind) => (token === null ? {} : { wakeUp: { token, kind } });
  const output = volume.tail(identity.files.output, {
    ...stalls,
    ...wokenBy("output"),
    maxBytes: delivery.limit(),
    onBytes: delivery.take,
    onRoom: (full) => run.observe({ kind: "volume-room", full }),
  });
  const meta = volume.tail(identity.files.meta, {
    ...stalls,
    ...wokenBy("meta"),
    // Others may append to it without end. The end that the runner recorded is in the termination message too.
    maxBytes: MAX_META_BYTES,
    onBytes: async (chunk) => {
      const read = records.push(chunk);
      if (read.foreign > 0) run.observe({ kind: "foreign-records", count: read.foreign });
      for (const record of read.records) {
        if (record.type === "end") {
          output.expect(Math.min(record.written, delivery.limit()));
          if (identity.records.kind === "signed") output.limit(delivery.endAt(record.written));
        }
        await take(context, record);
      }
    },
  });
  return {
    refresh: async () => {
      await meta.refresh();
      await output.refresh();
      return delivery.bytes();
    },
    close: () => {
      output.close();
      meta.close();
    },
  };
}

/** Hands the output to the caller, hashes it on the way, and keeps it within its limit. */
function createDelivery({ run, io, request }: RunContext) {
  const hash = createHash("sha256");
  // The runner keeps to it; a process in the pod may write to the file past the runner. A Job that was taken over has its first server's limit.
  let limit = (run.state.identity.adopted ? undefined : request.limits.outputBytes) ?? Number.MAX_SAFE_INTEGER;
  let bytes = 0;
  return {
    bytes: () => bytes,
    limit: () => limit,
    /** The run's own end says how long the output is: what follows is not the run's. */
    endAt: (written: number): number => {
      limit = Math.min(limit, Math.max(written, bytes));
      return limit;
    },
    take: async (chunk: Buffer): Promise<void> => {
      const own = chunk.subarray(0, Math.max(0, limit - bytes));
      if (own.length === 0) return;
      await io.onOutput(own);
      hash.update(own);
      bytes += own.length;
      run.observe({ kind: "output", bytes, sha256: hash.copy().digest("hex") });
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
