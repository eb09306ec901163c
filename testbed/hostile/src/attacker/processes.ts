import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { MARK } from "../orders.ts";
import { type Attacks, wrote } from "./attack.ts";
import { runnerPid } from "./own-run.ts";

// Signals to the runner, and processes that outlive the CLI.

/** Says every 50 ms that it lives, in a session of its own. */
const DAEMON = `const http = require("node:http"); process.on("SIGTERM", () => {}); process.on("SIGHUP", () => {});
  setInterval(() => http.request(process.argv[1] + "/report", { method: "POST" }, (r) => r.resume()).on("error", () => {})
    .end(JSON.stringify({ id: process.argv[2], got: false, saw: "alive" })), 50);`;

export const processes: Attacks = {
  "processes/kill-runner": {
    tries: "kills the runner without a word",
    must: "its own run fails, and says why; a real pod's runner cannot be killed from inside",
    attack: async () => {
      process.kill(runnerPid(), "SIGKILL");
      await sleep(300);
      return wrote("SIGKILL");
    },
  },
  "processes/stop-runner": {
    tries: "stops the runner (SIGSTOP)",
    must: "a cancel ends the run",
    attack: () => {
      process.kill(runnerPid(), "SIGSTOP");
      return wrote("SIGSTOP");
    },
  },
  "processes/daemon": {
    tries: "leaves a process in a session of its own that ignores SIGTERM",
    must: "it is gone with the run's pod",
    only: "kube",
    attack: async (_, { url }) => {
      spawn(process.execPath, ["-e", DAEMON, url, "processes/daemon-alive"], { detached: true, stdio: "ignore" }).unref();
      await sleep(500);
      return wrote("a process");
    },
  },
  "processes/many": {
    tries: "leaves 100 sleeping processes",
    must: "the runner ends them, and the run with them",
    attack: () => {
      for (let count = 0; count < 100; count++) spawn("sleep", ["3600"], { stdio: "ignore" });
      return wrote("100 processes");
    },
  },
  "processes/stderr-flood": {
    tries: "writes 8 MiB to stderr",
    must: "the log gets a part, and says so",
    attack: async () => {
      const piece = `${MARK}-flood ${"e".repeat(1000)}\n`.repeat(1024);
      for (let count = 0; count < 8; count++) await new Promise<void>((resolve) => process.stderr.write(piece, () => resolve()));
      return wrote("8 MiB");
    },
  },
  "processes/long-line": {
    tries: "writes one line of 16 MiB to stdout",
    must: "it is not shown; the run ends as it does",
    attack: async () => {
      const piece = "a".repeat(1024 * 1024);
      for (let count = 0; count < 16; count++) await new Promise<void>((resolve) => process.stdout.write(piece, () => resolve()));
      process.stdout.write("\n");
      return wrote("16 MiB");
    },
  },
  "disk/endless-output": {
    tries: "writes output without end",
    must: "the run is ended at the operator's limit, and the message names it",
    attack: async () => {
      const piece = `${"a".repeat(1023)}\n`.repeat(1024);
      for (;;) await new Promise<void>((resolve) => process.stdout.write(piece, () => resolve()));
    },
  },
};
