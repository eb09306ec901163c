import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";

/** Runs a program that leaves another one behind, whose output goes to the log. */
export async function launch(program: string, args: readonly string[], log: string): Promise<void> {
  const file = await open(log, "a");
  const env = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root" };
  try {
    const child = spawn(program, args, { stdio: ["ignore", file.fd, file.fd], env, cwd: "/" });
    const [code] = await once(child, "exit");
    if (code !== 0) throw new Error(`${program} ${args.join(" ")}: exit code ${code}: ${(await readFile(log, "utf8")).slice(-500)}`);
  } finally {
    await file.close();
  }
}
