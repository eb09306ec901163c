import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pocket } from "./index.ts";
import type { Job } from "./job.ts";
import type { KubeObject } from "./object.ts";
import type { Container, Pod, PodSpec } from "./pod.ts";

// What pocket's own tests share: plain requests, small Jobs, and the transitions a watch shows, written as the recorded fixtures write them.

export const images = { "agent:1": { path: ["/usr/bin", "/bin"] } };

export interface Reply<T> {
  status: number;
  headers: Headers;
  body: T;
}

export async function call<T = KubeObject>(
  cluster: Pocket,
  method: string,
  path: string,
  body?: unknown,
  type?: string,
): Promise<Reply<T>> {
  const response = await fetch(`${cluster.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${cluster.token}`, ...(body === undefined ? {} : { "content-type": type ?? "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json");
  return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : text) as T };
}

export const mergePatch = "application/merge-patch+json";
export const jsonPatch = "application/json-patch+json";
export const jobs = (namespace: string): string => `/apis/batch/v1/namespaces/${namespace}/jobs`;
export const pods = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
export const secrets = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets`;

export interface JobOptions {
  spec?: object;
  pod?: Partial<PodSpec>;
  container?: Partial<Container>;
}

/** A Job whose one container runs a shell script; TERMINATION_LOG names its termination message file. */
export function shellJob(name: string, script: string, { spec, pod, container }: JobOptions = {}): object {
  const env = [{ name: "TERMINATION_LOG", value: "/dev/termination-log" }, ...(container?.env ?? [])];
  const agent = { name: "agent", image: "agent:1", command: ["sh", "-c", script], ...container, env };
  const template = { spec: { restartPolicy: "Never", terminationGracePeriodSeconds: 1, ...pod, containers: [agent] } };
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec: { backoffLimit: 0, template, ...spec } };
}

export async function createJob(cluster: Pocket, namespace: string, name: string, script: string, options?: JobOptions): Promise<Job> {
  const reply = await call<Job>(cluster, "POST", jobs(namespace), shellJob(name, script, options));
  if (reply.status !== 201) throw new Error(JSON.stringify(reply.body));
  return reply.body;
}

const HANG_MS = 120_000;

export async function until<T>(look: () => T | undefined | false | null, what: string): Promise<T> {
  const end = Date.now() + HANG_MS;
  for (;;) {
    const found = look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`not seen within ${HANG_MS} ms: ${what}`);
    await sleep(5);
  }
}

export const podOf = (cluster: Pocket, namespace: string, job: string): Pod | undefined =>
  cluster.list("pods", namespace).find((pod) => pod.metadata.labels?.["job-name"] === job);

export const runningPod = (cluster: Pocket, namespace: string, job: string): Promise<Pod> =>
  until(() => {
    const pod = podOf(cluster, namespace, job);
    return pod?.status.phase === "Running" ? pod : undefined;
  }, `${job} running`);

export const hasEnded = (job: Job | undefined): boolean =>
  job?.status.conditions?.some(({ type, status }) => (type === "Complete" || type === "Failed") && status === "True") ?? false;

export const endedJob = (cluster: Pocket, namespace: string, name: string): Promise<Job> =>
  until(() => {
    const job = cluster.get("jobs", namespace, name);
    return job && hasEnded(job) ? job : undefined;
  }, `${name} over`);

export interface WatchEvent<T = KubeObject> {
  type: string;
  object: T;
}

/** Collects what a watch sends until it ends or is stopped. */
export class WatchLog<T = KubeObject> {
  readonly events: WatchEvent<T>[] = [];
  ended = false;
  status = 0;
  readonly #abort = new AbortController();
  readonly done: Promise<void>;

  constructor(cluster: Pocket, path: string, query = "") {
    this.done = this.#read(`${cluster.url}${path}?watch=true${query}`, cluster.token)
      .catch(() => {})
      .then(() => {
        this.ended = true;
      });
  }

  stop(): Promise<void> {
    this.#abort.abort();
    return this.done;
  }

  async #read(url: string, token: string): Promise<void> {
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: this.#abort.signal });
    this.status = response.status;
    let rest = "";
    for await (const chunk of response.body!) {
      rest += Buffer.from(chunk).toString();
      const lines = rest.split("\n");
      rest = lines.pop()!;
      for (const line of lines) this.events.push(JSON.parse(line) as WatchEvent<T>);
    }
  }
}

export async function openWatch<T = KubeObject>(cluster: Pocket, path: string, query = ""): Promise<WatchLog<T>> {
  const log = new WatchLog<T>(cluster, path, query);
  await until(() => log.status !== 0 || log.ended, "watch open");
  return log;
}

/** Distinct states of one Job's pod, as in the fixtures' podTransitions, in short form. */
export function podTransitions(log: WatchLog<Pod>, job: string): string[] {
  const own = log.events.filter(({ object }) => object.metadata.labels?.["job-name"] === job);
  return distinct(own.map(({ type, object }) => (type === "DELETED" ? "deleted" : describePod(object))));
}

function describePod({ metadata, status }: Pod): string {
  const disruption = status.conditions?.find(({ type }) => type === "DisruptionTarget")?.reason;
  const unscheduled = status.conditions?.find(({ type, status: value }) => type === "PodScheduled" && value === "False")?.reason;
  const state = status.containerStatuses?.[0]?.state;
  const { waiting, terminated } = state ?? {};
  const container = terminated
    ? `terminated:${terminated.reason}(${terminated.exitCode})`
    : waiting
      ? `waiting:${waiting.reason}`
      : state && "running";
  const parts = [status.phase, status.reason, container, unscheduled, metadata.deletionTimestamp && "deleting", disruption];
  return parts.filter((part) => part !== undefined).join(" ");
}

/** The same for the Job: counts, then conditions. */
export function jobTransitions(log: WatchLog<Job>, job: string): string[] {
  const own = log.events.filter(({ object }) => object.metadata.name === job);
  return distinct(own.map(({ type, object }) => (type === "DELETED" ? "deleted" : describeJob(object))));
}

function describeJob({ status }: Job): string {
  const counts = (["active", "terminating", "failed", "succeeded"] as const)
    .filter((key) => status[key])
    .map((key) => `${key}=${status[key]}`);
  const conditions = (status.conditions ?? []).filter((c) => c.status === "True").map((c) => `${c.type}:${c.reason}`);
  return [...counts, ...conditions].join(" ") || "nothing";
}

const distinct = (texts: readonly string[]): string[] => texts.filter((text, i) => text !== texts[i - 1]);

export const messagesAbout = (cluster: Pocket, namespace: string, name: string | RegExp): string[] =>
  cluster
    .list("events", namespace)
    .filter(({ involvedObject }) => (typeof name === "string" ? involvedObject.name === name : name.test(involvedObject.name)))
    .map(({ reason, message }) => `${reason}: ${message}`);

/** A command that waits until it is let go, and then does the rest: a slow machine sees it running as well. */
export function gatedCommand(rest: string): { readonly command: string; readonly letGo: () => void } {
  const gate = join(tmpdir(), `gate-${randomUUID()}`);
  return { command: `until [ -e ${gate} ]; do sleep 0.05; done; rm ${gate}; ${rest}`, letGo: () => writeFileSync(gate, "") };
}
