import type { HostApi } from "@paperclip-k8s/paperclip/host-api";
import { type HostRun, listedRunOf, mayHaveLostResult } from "@paperclip-k8s/paperclip/runs";
import { recordOf, recordsOf, textOf } from "@paperclip-k8s/paperclip/values";

/** A run as it stands in the host's list: without its result. */
export interface ListedRun extends HostRun {
  readonly companyId: string;
  readonly issueId: string | null;
  readonly finishedAt: string | null;
  /** The host has not handed it to an adapter. */
  readonly neverStarted: boolean;
  /** Only the run's own record shows whether the host has stored its result. */
  readonly mayHaveLostResult: boolean;
}

/** As many as the host gives. */
export const MOST_LISTED = 1000;

/** The newest runs of a company, or of one agent, newest first. */
export async function listedRuns(
  host: HostApi,
  companyId: string,
  of?: { readonly agentId: string; readonly most: number },
): Promise<ListedRun[]> {
  const which = of === undefined ? `limit=${MOST_LISTED}` : `agentId=${of.agentId}&limit=${of.most}`;
  const rows = recordsOf(await host.get(`/companies/${companyId}/heartbeat-runs?${which}&summary=true`));
  return rows.flatMap((row) => {
    const run = listedRunOf(textOf(row.id) ?? "", row);
    if (run === null) return [];
    const issueId = textOf(recordOf(row.contextSnapshot).issueId);
    const facts = { finishedAt: textOf(row.finishedAt), neverStarted: row.startedAt === null, mayHaveLostResult: mayHaveLostResult(row) };
    return [{ ...run, companyId, issueId, ...facts }];
  });
}
