import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { connect } from "node:net";
import type { Attacks, Attempted } from "./attack.ts";

// What the pod itself gives its program: variables, processes, the kernel, the Kubernetes API.

const only = "kube" as const;
const status = (field: string): string =>
  new RegExp(`^${field}:\\s*(\\S+)`, "m").exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
/** The orders name the secret that the attack searches for, and they are in a variable themselves. So it is written backwards there. */
const plain = (secret = "?"): string => [...secret].reverse().join("");
const TOKENS = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Processes that this one can see and that belong to none of its own. */
function visible(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      } catch {
        return "";
      }
    })
    .filter((command) => command !== "");
}

export const environment: Attacks = {
  "environment/server-secrets": {
    tries: "looks for the server's secrets in its variables",
    must: "there are none",
    attack: ({ secret }) => {
      const names = Object.keys(process.env).filter((name) => process.env[name]?.includes(plain(secret)));
      return { got: names.length > 0, saw: names.join(" ") || `${Object.keys(process.env).length} variables, none of them the server's` };
    },
  },
  "environment/runner": {
    tries: "reads the variables of the runner, its parent",
    must: "nothing is there that its own run must not have",
    attack: ({ secret }) => {
      const text = readFileSync(`/proc/${process.ppid}/environ`, "utf8");
      return { got: text.includes(plain(secret)), saw: `${text.split("\0").length - 1} variables` };
    },
  },
  "environment/processes": {
    tries: "looks for processes of other containers",
    must: "it sees its own, the runner's and the pause process",
    only,
    attack: () => {
      const foreign = visible().filter((command) => !/^(\/pause|node |\S*runner\.cjs|\S+node )/.test(command));
      return { got: foreign.length > 0, saw: foreign.join("; ") || `${visible().length} processes of its own` };
    },
  },
  "environment/capabilities": {
    tries: "looks for capabilities",
    must: "it has none, and can gain none",
    only,
    attack: () => {
      const [effective, bounding, noNew] = ["CapEff", "CapBnd", "NoNewPrivs"].map(status);
      return {
        got: !/^0+$/.test(effective ?? "") || !/^0+$/.test(bounding ?? "") || noNew !== "1",
        saw: `CapEff ${effective} NoNewPrivs ${noNew}`,
      };
    },
  },
  "environment/root": {
    tries: "is root",
    must: "it is another user",
    only,
    attack: () => ({ got: process.getuid?.() === 0, saw: `user ${process.getuid?.()}` }),
  },
  "environment/seccomp": {
    tries: "runs without a filter of system calls",
    must: "the runtime's default filter is on",
    only,
    attack: () => ({ got: status("Seccomp") !== "2", saw: `Seccomp ${status("Seccomp")}` }),
  },
  "environment/device": {
    tries: "makes a device file",
    must: "it may not",
    only,
    attack: () => {
      const { status: code, stderr } = spawnSync("mknod", [`${process.env.TMPDIR ?? "/tmp"}/disk`, "b", "8", "0"], { encoding: "utf8" });
      return { got: code === 0, saw: (stderr ?? "").trim() || `mknod ended with ${code}` };
    },
  },
  "environment/image": {
    tries: "changes a program of its image",
    must: "the root file system is read-only",
    only,
    attack: () => {
      writeFileSync("/usr/bin/planted", "");
      return { got: true, saw: "wrote /usr/bin/planted" };
    },
  },
  "environment/secret-volume": {
    tries: "changes its own run's Secret",
    must: "it is mounted read-only",
    only,
    attack: () => {
      writeFileSync("/run/agent-input/spec.json", "{}");
      return { got: true, saw: "wrote spec.json" };
    },
  },
  "environment/api-token": {
    tries: "looks for a service account's token",
    must: "there is none",
    attack: () => ({ got: existsSync(`${TOKENS}/token`), saw: existsSync(TOKENS) ? readdirSync(TOKENS).join(" ") : "no such folder" }),
  },
  "environment/api-server": {
    tries: "lists Secrets at the API server",
    must: "it is nobody there",
    only,
    attack: ({ apiServer }) => anonymous(apiServer ?? ""),
  },
  "environment/metadata": {
    tries: "connects to the address of a cloud's metadata service by its own route",
    must: "nothing answers (on a cloud: the network policy)",
    only,
    attack: () =>
      new Promise<Attempted>((resolve) => {
        const socket = connect({ host: "169.254.169.254", port: 80, timeout: 1000 });
        const end = (got: boolean, saw: string) => {
          socket.destroy();
          resolve({ got, saw });
        };
        socket.once("connect", () => end(true, "connected"));
        socket.once("timeout", () => end(false, "no answer"));
        socket.once("error", (error: NodeJS.ErrnoException) => end(false, error.code ?? error.message));
      }),
  },
};

function anonymous(server: string): Promise<Attempted> {
  return new Promise((resolve, reject) => {
    const sent = request(`${server}/api/v1/secrets`, { rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve({ got: response.statusCode === 200, saw: `answered ${response.statusCode}` });
    });
    sent.on("error", reject);
    sent.end();
  });
}
