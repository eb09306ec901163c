// A server process for volume-trouble.test.ts: one live run whose reader is stopped; ends itself on SIGTERM as a host does.
import { execFileSync } from "node:child_process";
import type { Bed } from "./bed.ts";
import { startRun } from "./run.ts";

const [kubeconfig = "", data = "", namespace = "", agent = ""] = process.argv.slice(2);
const bed = { kubeconfig, data, namespace, images: { agent } } as unknown as Bed;
process.on("SIGTERM", () => process.exit(0));
const run = startRun(bed, { script: `console.log("on"); setInterval(() => {}, 1000)` });
await run.saw("on\n");
const children = execFileSync("pgrep", ["-P", String(process.pid)], { encoding: "utf8" })
  .trim()
  .split("\n");
for (const child of children) {
  try {
    process.kill(Number(child), "SIGSTOP");
  } catch {
    // pgrep lists itself, and it is gone by now.
  }
}
console.log("stuck");
