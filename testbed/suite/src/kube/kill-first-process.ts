import { readdir, readFile } from "node:fs/promises";

/** Kills the runner of a pod from the node, as an operator or the kernel would: the kernel protects a first process from its own pod. */
export async function killFirstProcess(pod: string): Promise<void> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map((pid) => isFirstOf(pid, pod)));
  const pid = pids.find((_, index) => found[index]);
  if (pid === undefined) throw new Error(`pod ${pod} has no first process on this machine`);
  process.kill(pid, "SIGKILL");
}

async function isFirstOf(pid: number, pod: string): Promise<boolean> {
  // A process may end while it is looked at.
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "");
  const [status, environ, command] = await Promise.all([read("status"), read("environ"), read("cmdline")]);
  return /^NSpid:.*\t1$/m.test(status) && environ.split("\0").includes(`HOSTNAME=${pod}`) && command.includes("runner.cjs");
}
