import { expect } from "vitest";
import { runEnd } from "../../src/host/follow.ts";
import { type Database, openDatabase } from "../../src/server/database.ts";
import type { Stage } from "../../src/stage.ts";
import { until } from "../../src/wait.ts";
import { type AtWork, atWork, retryOf, textOf } from "../agents/at-work.ts";
import { jobOver } from "../agents/job-over.ts";
import { drain, recover, type Said } from "../operator-cli.ts";

/** Long enough for the two to meet; whoever has waited so long first is cancelled, and that is the host. */
const HOST_WAITS = "5s";
const WE_WAIT = "60s";

/** The host meets its deadlock for certain, and loses what the drained run returned: we say so, and the Job's result is not lost. */
export async function lostResult(stage: Stage): Promise<void> {
  const { company } = stage;
  const database = await openDatabase(stage.host);
  try {
    const work = await atWork(stage, "lost", "echo finished");
    await waitsOf(database, HOST_WAITS);
    const said = await drainInto(database, work, () => drain(stage));
    expect(await company.run(work.run.id)).toMatchObject({
      status: "failed",
      errorCode: "adapter_failed",
      error: expect.stringMatching(/^Failed query: insert into "workspace_operations"/),
    });
    expect(said).toMatchObject({ code: 3, out: expect.stringMatching(new RegExp(`left +${work.run.id}`)) });
    await until("the hold", async () => (await company.issue(work.issue.id)).executionBlocker);

    work.goOn();
    await jobOver(stage, work);
    expect(await recover(stage)).toMatchObject({ code: 0, out: expect.stringContaining(`${work.issue.identifier}: released (completed`) });
    const next = await retryOf(stage, work);
    expect(await runEnd(company, next.id)).toMatchObject({ status: "succeeded", errorCode: null });
    for (const text of ["adopted Job", "finished"]) expect(await textOf(stage, next)).toContain(text);
  } finally {
    await waitsOf(database, null);
    await database.end();
  }
}

/** Takes the locks of a call with the run's token, the issue's and then the run's; the drained run's insert comes in between. */
async function drainInto(database: Database, { issue, run }: AtWork, act: () => Promise<Said>): Promise<Said> {
  let said: Promise<Said> | undefined;
  await database.begin(async (transaction) => {
    await transaction.unsafe(`SET LOCAL deadlock_timeout = '${WE_WAIT}'`);
    await transaction.unsafe(`SELECT id FROM issues WHERE id = '${issue.id}' FOR UPDATE`);
    said = act();
    await until("the host's insert", async () => (await database.unsafe(WAITING)).length > 0);
    await transaction.unsafe(`SELECT id FROM heartbeat_runs WHERE id = '${run.id}' FOR UPDATE`);
  });
  return (await said) as Said;
}

const WAITING = `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'insert into "workspace_operations"%'`;

async function waitsOf(database: Database, time: string | null): Promise<void> {
  await database.unsafe(time === null ? "ALTER SYSTEM RESET deadlock_timeout" : `ALTER SYSTEM SET deadlock_timeout = '${time}'`);
  await database.unsafe("SELECT pg_reload_conf()");
}
