import type { AnyStage } from "../../stage.ts";
import { issueOf } from "./follow-runs.ts";

/** What is not finished, and what becomes of it: one line for each issue. */
export async function openIssues({ company }: Pick<AnyStage, "company">): Promise<string[]> {
  const runs = await company.allRuns();
  const open = (await company.issues()).filter(({ status }) => !["done", "cancelled", "backlog"].includes(status));
  return Promise.all(
    open.map(async ({ id, identifier }) => {
      const { status, executionBlocker } = await company.issue(id);
      const run = runs.find((each) => issueOf(each) === id);
      if (executionBlocker) return `${identifier} is held: ${executionBlocker.cause} (run ${executionBlocker.runId})`;
      if (run?.status === "scheduled_retry") return `${identifier}: the host goes on by itself`;
      return `${identifier} is ${status}${run === undefined ? "" : `, its last run ${run.status}${run.errorCode === null ? "" : ` (${run.errorCode})`}`}`;
    }),
  );
}
