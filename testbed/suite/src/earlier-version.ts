import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect } from "../../../packages/engine/src/kube/connection.ts";
import { paths } from "../../../packages/engine/src/kube/paths.ts";
import { createJob, createUnlessThere } from "../../../packages/engine/src/kube/writes.ts";
import { jobName, secretName } from "../../../packages/engine/src/manifest/names.ts";
import { runFiles } from "../../../packages/engine/src/request.ts";
import { openVolume } from "../../../packages/engine/src/volume/volume.ts";
import type { Bed } from "./bed.ts";

// A live run of version 0.1.0, whose server is gone: its Job, Secret and runner are checked in as that version made them (commit 558ef5c).

const fixture = (name: string): string => readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8");

export interface EarlierRun {
  readonly runId: string;
  readonly key: string;
  readonly files: ReturnType<typeof runFiles>;
}

/** Starts it; `script` plays the CLI. */
export async function startEarlierRun(bed: Bed, script: string): Promise<EarlierRun> {
  const [runId, key, nonce] = [randomUUID(), randomUUID(), randomBytes(12).toString("hex")];
  const files = runFiles(`${bed.data}/logs/${runId}.ndjson`);
  const job = jobName({ prefix: "suite-", parts: [key], identity: key });
  const values = { RUN: runId, KEY: key, NONCE: nonce, NAMESPACE: bed.namespace, DATA: bed.data, IMAGE: bed.images.agent, SCRIPT: script };
  const fill = (text: string, more: Readonly<Record<string, string>> = {}): string =>
    Object.entries({ ...values, JOB: job, SECRET: secretName(job, nonce), ...more }).reduce(
      (filled, [name, value]) => filled.replaceAll(`__${name}__`, JSON.stringify(value).slice(1, -1)),
      text,
    );
  const parts = fixture("run-0.1.0.json");
  const volume = openVolume(bed.data);
  const connection = await connect({ kubeconfig: bed.kubeconfig });
  try {
    await volume.prepare(files, process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : null);
    const made = await createJob(connection, bed.namespace, JSON.parse(fill(parts)).job);
    if (!("created" in made)) throw new Error(`there is a Job ${job} already`);
    const { secret, spec } = JSON.parse(fill(parts, { JOB_UID: made.created.uid }));
    const contents = { "runner.cjs": fixture("runner-0.1.0.txt"), "spec.json": JSON.stringify(spec), stdin: "" };
    const data = Object.fromEntries(Object.entries(contents).map(([name, text]) => [name, Buffer.from(text).toString("base64")]));
    await createUnlessThere(connection, paths.secrets(bed.namespace), { ...secret, data }, {});
  } finally {
    connection.close();
    volume.release();
  }
  return { runId, key, files };
}
