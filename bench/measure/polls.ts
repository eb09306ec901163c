import { randomUUID } from "node:crypto";
import type { Row } from "../figures.ts";
import type { Host } from "../host.ts";
import { type HostApi, openHostApi } from "../host-api.ts";
import { stampedRuns } from "../lines.ts";
import type { RunRecord } from "../protocol.ts";
import { flowOf } from "../stamp.ts";

const RUNS = 10;

/** How often a host that cancels without an abort signal is asked whether a run is to stop. */
export async function measurePolls(host: Host, seconds: number): Promise<Row[]> {
  const api = await openHostApi();
  try {
    const records = await Promise.all(Array.from({ length: RUNS }, () => polled(host, api, seconds)));
    const minutes = stampedRuns(records).reduce((sum, { record }) => sum + (record.returnedAt - record.calledAt) / 60_000, 0);
    const measured = `${(api.asked / minutes).toFixed(1)} (${api.asked} in ${seconds} s)`;
    return [{ what: `requests to a host without abort signals, ${RUNS} runs: per run and minute`, budget: "–", measured, ok: null }];
  } finally {
    api.close();
  }
}

async function polled(host: Host, api: HostApi, seconds: number): Promise<RunRecord> {
  const runId = `bench-${randomUUID()}`;
  api.started(runId);
  const record = await host.run(flowOf(seconds), { runId, hostPort: api.port, hasSignal: false });
  api.ended(runId);
  return record;
}
