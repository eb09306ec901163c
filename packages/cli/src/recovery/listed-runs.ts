import type { HostApi } from "@paperclip-k8s/paperclip/host-api";
import { type HostRun, runOf } from "@paperclip-k8s/paperclip/runs";
import { recordOf, recordsOf, textOf } from "@paperclip-k8s/paperclip/values";

/** A run as it stands in the host's list: without its result. */
export interface ListedRun extends HostRun {
  readonly companyId: string;
  readonly issueId: string | null;
  readonly finishedAt: string | null;
}

/** As many as the host gives. */
const MOST = 1000;

/** The newest runs of a company, or of one agent, newest first. */
export async function listedRuns(
  host: HostApi,
  companyId: string,
  of?: { readonly agentId: string; readonly most: number },
): Promise<ListedRun[]> {
  const which = of === undefined ? `limit=${MOST}` : `agentId=${of.agentId}&limit=${of.most}`;
  const rows = recordsOf(await host.get(`/companies/${companyId}/heartbeat-runs?${which}&summary=true`));
  return rows.flatMap((row) => {
    const run = runOf(textOf(row.id) ?? "", row);
    const issueId = textOf(recordOf(row.contextSnapshot).issueId);
    return run === null ? [] : [{ ...run, companyId, issueId, finishedAt: textOf(row.finishedAt) }];
  });
}
