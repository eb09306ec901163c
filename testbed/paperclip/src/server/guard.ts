import { spawn } from "node:child_process";
import { databaseDir, type Home } from "./home.ts";

// Its input ends when we do, however that was: then server and database end by their recorded pids, and a folder that nobody keeps goes.
const script = `read -r _
kill -9 "$(cat "$1/server.pid")"; kill -3 "$(head -n 1 "$2/postmaster.pid")"
[ "$3" = kept ] || { sleep 2; rm -rf "$1"; }`;

/** A small shell that cleans up after a test process that was killed. Returns how to dismiss it. */
export function guard(home: Home, removes: boolean): () => void {
  const shell = spawn("/bin/sh", ["-c", script, "guard", home.root, databaseDir(home), removes ? "gone" : "kept"], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  shell.on("error", () => {});
  shell.stdin.on("error", () => {});
  shell.unref();
  // A pipe to a child keeps the event loop alive like any socket.
  (shell.stdin as unknown as { unref(): void }).unref();
  return () => {
    shell.kill("SIGKILL");
    shell.stdin.destroy();
  };
}
