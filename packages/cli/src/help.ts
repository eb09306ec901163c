import type { CommandName } from "./arguments/command.ts";

const CLUSTER = `  -n, --namespace <name>  of the agents' Jobs; may be repeated
                          (unset: the policy's, the pod's, or the context's)
      --kubeconfig <file> unset: KUBECONFIG, the pod's own account, ~/.kube/config
      --context <name>    of the kubeconfig`;

export const OVERVIEW = `paperclip-k8s: for operators of Paperclip agents that run as Kubernetes Jobs

  recover        issues that are held and why; releases those whose run has provably ended
  drain          before a planned restart: the server's adapters detach their runs, whose Jobs go on
  status         who runs the agents of each built-in type; every agent's Job and its state
  transcript     what an agent did, from the output that is kept of a run
  sweep          what runs have left behind: Jobs, Secrets, files
  check-adapters before the server starts: whether it will load the adapters that it has
  policy         checks a policy file, and prints what is in force
  upgrade-check  before an upgrade from the earlier adapters: what it means for each agent
  collect-tools  makes a folder of Node and CLIs that run on any image: the content of a tools image

paperclip-k8s help <command> lists the options.

Exit codes: 0 done, 1 error (host or cluster not reachable, or it refused), 2 wrong usage,
3 something is left (an issue still held, a run that could not be detached, an agent whose runs
would be refused, a built-in type whose agents run inside the server although they should not).`;

export const HELP: Readonly<Record<CommandName, string>> = {
  recover: `paperclip-k8s recover [options]

Lists the issues on which Paperclip (2026.916 and later) starts nothing until it is known what
became of a run, and those that wait for a repair. Proof of a run's end is, in this order: the
result that the host itself has stored, the run's Job, the record that the run left on the volume.
An issue whose run was lost by a restart and has provably ended is released: the host learns how it
ended, and goes on by itself. Where the Job still runs it stays held: --watch waits for its end.
Runs that failed by themselves are listed too, but started again only when --issue names them, as
are issues that waited for you to repair something.

Runs that ended while no server was there, and whose issue is finished, follow in a list of their
own: how they ended, tokens and cost. The cost is reported to the host once, when the Job is gone.

      --issue <id>        only this issue (id or identifier); may be repeated
      --stopped <text>    with --issue, where nothing proves that the agent has stopped: how you
                          know that it has. The host keeps it, and the next run reads it
      --dry-run           only list
      --no-costs          do not report costs
      --watch             go on until stopped, a round every 15 s (--every <time>)
      --url <address>     of the Paperclip server (unset: PAPERCLIP_API_URL, http://127.0.0.1:3100)
      --company <id>      only this company
      --data <folder>     PAPERCLIP_HOME as seen from here, for records of Jobs that are gone
${CLUSTER}

The environment variable PAPERCLIP_API_KEY holds a board API key; a local_trusted server needs none.`,

  drain: `paperclip-k8s drain [options]

For the preStop hook of the server's container. Asks the adapters in the server to detach their
runs: each run returns to the host with the request to continue, while its Job goes on; the next
server takes it over. New runs are refused meanwhile. Works in the server's container, as its user.
Lists what was detached; runs that could not be (an older host, a third restart within one run) are
left to recover. An adapter that does not answer is named, and the exit code is 3.

      --timeout <time>    how long to wait for that (30s)
      --reason <text>     for the runs' logs
      --undo              the server stays after all: take runs again (else after 10 min)`,

  sweep: `paperclip-k8s sweep [options]

Lists what runs have left behind, and why it may go: finished Jobs that nobody removed (kept for
debugging, or of a server that never came back), Jobs that never got their Secret and so cannot
start, Secrets whose Job is gone, output files of runs whose Job is gone, bundles of instructions
and skills that no run can need. What looks left over but is not proved to be is listed as left
alone, with the reason. Saved sessions are not touched: the adapters collect those.

      --older-than <time> since the end of a Job, or the last change (24h; files 7d)
      --delete            delete them; unset: only list
      --data <folder>     PAPERCLIP_HOME as seen from here; unset: PAPERCLIP_HOME, else no files
${CLUSTER}`,

  status: `paperclip-k8s status [options]

Says of each built-in type whose place an adapter of ours can take whether it is taken, paused, lost
(the package is installed but did not load) or built-in: only where it is taken, agents run as Jobs.
Then lists every agent's Job: agent, run, age and state. The exit code is 3 while a place is paused
or lost.

      --url <address>     of the Paperclip server (unset: PAPERCLIP_API_URL, http://127.0.0.1:3100)
${CLUSTER}

The environment variable PAPERCLIP_API_KEY holds a board API key; a local_trusted server needs none.`,

  "check-adapters": `paperclip-k8s check-adapters [options]

For an init container of the server's pod. Loads each adapter of ours that the server has installed,
as the server will. If one cannot be loaded, it says why, and the exit code is 3, so that the server
does not start: it would run that adapter's agents inside itself.

      --data <folder>     PAPERCLIP_HOME as seen from here; unset: PAPERCLIP_HOME`,

  transcript: `paperclip-k8s transcript <run> [options]

Prints what an agent did in a run, as the run's page would show it, from the output that is kept on
the shared volume: of a run that works, of one that ended while no server was there, of one whose
Job was kept, and the end of any other if the policy has limits.keepOutputBytes. The run's id may be
given by its beginning.

      --data <folder>     PAPERCLIP_HOME as seen from here; unset: PAPERCLIP_HOME`,

  "collect-tools": `paperclip-k8s collect-tools <folder> [options]

Collects Node, the agents' CLIs, every shared library that they need and their loader into an empty
folder, and changes them so that they start on any Linux image of the same processor, whether its C
library is glibc or musl (docs/images.md). A library that is missing is named, and the exit code is
1. Where the folder is the one that pods will have, each program is started once.

      --cli <path>        a CLI: its path, its name in PATH, or name=path; may be repeated
      --node <path>       unset: the Node that runs this command
      --mount <path>      only for a try-out elsewhere: pods have the folder at /opt/agent-tools`,

  policy: `paperclip-k8s policy [file] [options]

Checks a policy file, which says what agents may use (docs/policy.md), as a server would: every
problem is printed with its place, and the exit code is 1. Of a valid one it prints what is in
force, with a mark at what the file does not change. Without a file: the one that
PAPERCLIP_K8S_POLICY names, as in the server's container, else the built-in defaults.

  -o, --output json       for programs: source, problems and policy`,

  "upgrade-check": `paperclip-k8s upgrade-check [options]

Reads the agents of a running Paperclip, which may still have the earlier adapters, and prints for
each agent of these adapter types what will be refused, what changes, what is ignored, and what to
do. Looks for the earlier adapters' live Jobs and agents' claims where it can. Nothing is changed.
Exit code 0: no agent's runs would be refused; 3: some would be, or an agent's settings could not
be read.

      --policy <file>     check against this policy (unset: the one that PAPERCLIP_K8S_POLICY
                          names, else the built-in one)
      --server-namespace <name>  of the server's own pod; agents may name it, unless the policy
                          gives them another (unset: known only where this runs in that pod)
      --url <address>     of the Paperclip server (unset: PAPERCLIP_API_URL, http://127.0.0.1:3100)
      --company <name>    only this company, by name or id
  -o, --output json       for programs
${CLUSTER}

The environment variable PAPERCLIP_API_KEY holds a board API key; a local_trusted server needs none.
Sessions, logins and other files on the volume cannot be seen from here.`,
};
