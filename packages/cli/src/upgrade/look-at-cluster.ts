import { type ConnectOptions, findClaim, isFinished, type JobView, listRuns, messageOf, ownPodIdentity } from "@paperclip-k8s/engine";
import { claimName } from "@paperclip-k8s/paperclip/agent-claim";
import { ANNOTATION, LABEL, SELECTOR } from "@paperclip-k8s/paperclip/keys";
import { textOf } from "@paperclip-k8s/paperclip/values";
import { type ClusterArguments, clusterOf, namespacesOf } from "../cluster/access.ts";
import { aFewAtOnce } from "../recovery/find/a-few-at-once.ts";
import type { FoundAgent } from "./find-agents.ts";

const AT_ONCE = 4;
/** Agents write their own settings: they must not make this look everywhere. */
const MOST_NAMESPACES = 20;

/** What the earlier adapters have left in the cluster, as far as it can be seen from here. */
export interface ClusterView {
  /** Those in which everything could be seen. */
  readonly namespaces: readonly string[];
  /** Live Jobs without our runner's mark. */
  readonly jobs: readonly LegacyJob[];
  readonly claims: readonly FoundClaim[];
  /** What could not be looked at, and why. */
  readonly unseen: readonly string[];
}

interface LegacyJob {
  readonly name: string;
  readonly agentId: string | null;
  readonly createdAt: string | null;
}

interface FoundClaim {
  readonly name: string;
  readonly agentId: string;
}

interface Where {
  readonly given: ClusterArguments;
  readonly serverNamespace: string | null;
  readonly env: NodeJS.ProcessEnv;
}

/** Never throws: an upgrade can be checked without a cluster, and what was not seen is said. */
export async function lookAtCluster(agents: readonly FoundAgent[], where: Where): Promise<ClusterView> {
  try {
    const cluster = clusterOf(where.given, where.env);
    const namespaces = await allNamespaces(agents, cluster, where);
    const looked = await aFewAtOnce(namespaces, AT_ONCE, (namespace) => lookAt(cluster, namespace, agents));
    return {
      namespaces: looked.filter(({ unseen }) => unseen.length === 0).map(({ namespace }) => namespace),
      jobs: looked.flatMap(({ jobs }) => jobs),
      claims: looked.flatMap(({ claims }) => claims),
      unseen: looked.flatMap(({ unseen }) => unseen),
    };
  } catch (error) {
    return { namespaces: [], jobs: [], claims: [], unseen: [`the cluster could not be looked at: ${messageOf(error)}`] };
  }
}

/** The earlier adapters used the agent's own namespace, else that of the server's pod. */
async function allNamespaces(
  agents: readonly FoundAgent[],
  cluster: ConnectOptions,
  { given, serverNamespace, env }: Where,
): Promise<string[]> {
  const usual = await namespacesOf(given, cluster, env);
  const server = serverNamespace ?? (await ownPodIdentity(env))?.namespace ?? null;
  const named = agents.flatMap(({ settings }) => textOf(settings?.namespace) ?? []).filter((name) => /^[a-z0-9-]{1,63}$/.test(name));
  return [...new Set([...usual, ...(server === null ? [] : [server]), ...named])].slice(0, MOST_NAMESPACES);
}

type Looked = Omit<ClusterView, "namespaces"> & { readonly namespace: string };

async function lookAt(cluster: ConnectOptions, namespace: string, agents: readonly FoundAgent[]): Promise<Looked> {
  const [jobs, claims] = await Promise.all([legacyJobs(cluster, namespace), agentClaims(cluster, namespace, agents)]);
  const problem = (what: string, seen: unknown) =>
    typeof seen === "string" ? [`${what} in namespace ${namespace} could not be looked at: ${seen}`] : [];
  const unseen = jobs === claims ? problem("Jobs and claims", jobs) : [...problem("Jobs", jobs), ...problem("claims", claims)];
  return { namespace, jobs: typeof jobs === "string" ? [] : jobs, claims: typeof claims === "string" ? [] : claims, unseen };
}

/** Those that live; or why they cannot be seen. */
async function legacyJobs(cluster: ConnectOptions, namespace: string): Promise<LegacyJob[] | string> {
  try {
    const { jobs } = await listRuns(cluster, namespace, SELECTOR);
    const isLegacy = (job: JobView) => job.annotations[ANNOTATION.runner] === undefined && !isFinished(job);
    return jobs.filter(isLegacy).map(({ name, labels, createdAt }) => ({
      name: `${namespace}/${name}`,
      agentId: labels[LABEL.agentId] ?? null,
      createdAt,
    }));
  } catch (error) {
    return messageOf(error);
  }
}

/** Claims of agents' own; or why they cannot be seen. */
async function agentClaims(cluster: ConnectOptions, namespace: string, agents: readonly FoundAgent[]): Promise<FoundClaim[] | string> {
  const names = agents.flatMap(({ id, cli }) => {
    const prefix = cli.state?.claim?.prefix;
    return prefix === undefined ? [] : [{ agentId: id, name: claimName(prefix, id) }];
  });
  try {
    const found = await aFewAtOnce(names, AT_ONCE, ({ name }) => findClaim(cluster, namespace, name));
    return names.filter((_, at) => found[at] !== null).map(({ agentId, name }) => ({ agentId, name: `${namespace}/${name}` }));
  } catch (error) {
    return messageOf(error);
  }
}
