import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { figuresSince, findCgroup, readCgroup } from "./cgroup.ts";

function machine(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), "runner-cgroup-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

const v2 = {
  "sys/fs/cgroup/memory.events": "low 0\nhigh 0\nmax 3\noom 1\noom_kill 2\noom_group_kill 0\n",
  "sys/fs/cgroup/memory.peak": "1048576\n",
  "sys/fs/cgroup/memory.max": "2097152\n",
  "sys/fs/cgroup/cpu.stat": "usage_usec 1234567\nuser_usec 1\n",
};
const mount2 = (top: string): string => `35 31 0:29 ${top} /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n`;
const nothing = { peakMemoryBytes: null, memoryLimitBytes: null, cpuMs: null, oomKills: null };

test("version 2 inside a container", () => {
  const root = machine({
    ...v2,
    "sys/fs/cgroup/cgroup.type": "domain\n",
    "proc/self/cgroup": "0::/\n",
    "proc/self/mountinfo": mount2("/"),
  });
  expect(readCgroup(findCgroup(root))).toEqual({ peakMemoryBytes: 1048576, memoryLimitBytes: 2097152, cpuMs: 1235, oomKills: 2 });
  writeFileSync(join(root, "sys/fs/cgroup/memory.max"), "max\n");
  expect(readCgroup(findCgroup(root)).memoryLimitBytes).toBeNull();
});

test("version 2 on a bare host: the figures would be everybody's", () => {
  const atRoot = machine({ ...v2, "proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mount2("/") });
  expect(readCgroup(findCgroup(atRoot))).toEqual(nothing);
  const session = machine({
    ...v2,
    "sys/fs/cgroup/cgroup.type": "",
    "proc/self/cgroup": "0::/user.slice\n",
    "proc/self/mountinfo": mount2("/"),
  });
  expect(readCgroup(findCgroup(session))).toEqual(nothing);
});

test("version 1 inside a container and on a bare host", () => {
  const files = {
    "proc/self/cgroup": "4:memory:/kubepods/x\n2:cpu,cpuacct:/kubepods/x\n0::/\n",
    "sys/fs/cgroup/memory/memory.max_usage_in_bytes": "4096\n",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "8192\n",
    "sys/fs/cgroup/memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
    "sys/fs/cgroup/cpu/cpuacct.usage": "5000000\n",
  };
  const mounts = (top: string): string =>
    `36 31 0:32 ${top} /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n37 31 0:33 ${top} /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n`;
  const inside = machine({ ...files, "proc/self/mountinfo": mounts("/kubepods/x") });
  expect(readCgroup(findCgroup(inside))).toEqual({ peakMemoryBytes: 4096, memoryLimitBytes: 8192, cpuMs: 5, oomKills: 1 });
  writeFileSync(join(inside, "sys/fs/cgroup/memory/memory.limit_in_bytes"), "9223372036854771712\n");
  expect(readCgroup(findCgroup(inside)).memoryLimitBytes).toBeNull();
  expect(readCgroup(findCgroup(machine({ ...files, "proc/self/mountinfo": mounts("/") })))).toEqual(nothing);
});

test("counters count from the start", () => {
  const now = { peakMemoryBytes: 9, memoryLimitBytes: 16, cpuMs: 30, oomKills: 3 };
  const before = { peakMemoryBytes: 1, memoryLimitBytes: 16, cpuMs: 10, oomKills: 1 };
  expect(figuresSince(before, now)).toEqual({ ...now, cpuMs: 20, oomKills: 2 });
  expect(figuresSince(nothing, now)).toEqual({ ...now, cpuMs: null, oomKills: null });
});
