export type Verb = "create" | "get" | "list" | "watch" | "delete" | "patch";

export interface Permission {
  readonly verb: Verb;
  readonly resource: "jobs" | "pods" | "secrets" | "events";
  readonly group: "" | "batch";
  readonly why: string;
  /** False: without it a feature is missing, and runs still run. */
  readonly required: boolean;
  readonly lostWithout: string;
}

const job = { resource: "jobs", group: "batch", required: true } as const;
const pod = { resource: "pods", group: "" } as const;

/** Everything this engine asks of the API server, and nothing else: checks, generated RBAC, docs and test accounts come from here. */
export const permissions: readonly Permission[] = [
  { ...job, verb: "create", why: "one Job per run", lostWithout: "no run can start" },
  { ...job, verb: "get", why: "who holds the name when a create answers 409", lostWithout: "a run whose Job exists already cannot go on" },
  { ...job, verb: "list", why: "the state of all runs' Jobs, once at the start", lostWithout: "the end of a run is not seen" },
  { ...job, verb: "watch", why: "changes of all runs' Jobs, without polling", lostWithout: "the end of a run is not seen" },
  {
    ...job,
    verb: "delete",
    why: "cancel, and clean-up after the end",
    lostWithout: "cancelled runs go on, ended Jobs stay until their TTL",
  },
  { ...job, verb: "patch", why: "take a Job over after a restart of the server", lostWithout: "a run is lost when the server restarts" },
  {
    ...pod,
    verb: "list",
    required: true,
    why: "the state of all runs' pods, once at the start",
    lostWithout: "exit codes and start failures are not seen",
  },
  {
    ...pod,
    verb: "watch",
    required: true,
    why: "changes of all runs' pods, without polling",
    lostWithout: "exit codes and start failures are not seen",
  },
  {
    ...pod,
    verb: "get",
    required: false,
    why: "the pod this process itself runs in, whose image, claim, environment and scheduling runs take over",
    lostWithout: "nothing is inherited: namespace, image and data claim must be set explicitly",
  },
  {
    ...pod,
    verb: "delete",
    required: false,
    why: "end a pod that outlives its Job",
    lostWithout: "such a pod lasts until its own time limit",
  },
  {
    verb: "create",
    resource: "secrets",
    group: "",
    required: true,
    why: "prompt, environment and tokens of a run, kept out of the Job",
    lostWithout: "no run can start",
  },
  {
    verb: "list",
    resource: "events",
    group: "",
    required: false,
    why: "why a pod does not start",
    lostWithout: "a start failure is reported without the cluster's own explanation",
  },
];
