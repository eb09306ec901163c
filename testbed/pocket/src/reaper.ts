import { spawn } from "node:child_process";
import { clusterMarker } from "./processes.ts";

const find =
  process.platform === "linux"
    ? `grep -lzx "$MARK" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3`
    : `ps -axEww -o pid=,command= | grep -F "$MARK" | awk '{print $1}'`;

// It ends when its parent does, however that ended; then it kills what is left, more than once because a process may fork meanwhile.
const script = `read -r _; for round in 1 2 3; do for pid in $(MARK="$1"; ${find}); do kill -9 "$pid" 2>/dev/null; done; done; shift; rm -rf "$@"`;

/** A small shell that outlives a killed process long enough to end its pods and remove its folders. Returns how to dismiss it. */
export function startReaper(clusterId: string, paths: readonly string[]): () => void {
  const mark = `${clusterMarker}=${clusterId}`;
  const reaper = spawn("/bin/sh", ["-c", script, "reaper", mark, ...paths], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  reaper.on("error", () => {});
  reaper.stdin.on("error", () => {});
  reaper.unref();
  // A pipe to a child keeps the event loop alive like any socket.
  (reaper.stdin as unknown as { unref(): void }).unref();
  return () => {
    reaper.kill("SIGKILL");
    reaper.stdin.destroy();
  };
}
