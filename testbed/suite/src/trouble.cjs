// Run by an agent's shell tool: waits for a file, then makes trouble for its own pod. For tests.
const { existsSync, readFileSync } = require("node:fs");
const { spawn } = require("node:child_process");

const [trigger, what] = process.argv.slice(2);

/** The runner is the only one of its ancestors that is touched. */
function killRunner() {
  for (let pid = process.ppid; pid > 1; pid = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0))
    if (/runner\.cjs\0/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8"))) process.kill(pid, "SIGKILL");
}

/** Many small ones: the CLI stays the largest process, the one the kernel takes. */
function hoard() {
  const child = "const held = Buffer.alloc(30_000_000, 1); setTimeout(() => held, 20_000)";
  for (let count = 0; count < 30; count++) spawn(process.execPath, ["-e", child], { stdio: "ignore" });
}

const waiting = setInterval(() => {
  if (!existsSync(trigger)) return;
  clearInterval(waiting);
  if (what === "kill-runner") killRunner();
  if (what === "hoard") hoard();
  setTimeout(() => {}, 20_000);
}, 100);
