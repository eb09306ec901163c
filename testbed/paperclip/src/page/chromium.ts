import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";

const run = promisify(execFile);
const PROGRAM = "/usr/bin/chromium";
const TIMEOUT_MS = 10 * 60_000;

/** Path of Debian's Chromium; installed when it is missing, which needs root. */
export async function prepareChromium(say: (line: string) => void): Promise<string> {
  if (existsSync(PROGRAM)) return PROGRAM;
  say("installing Debian's package chromium (once)");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const options = { env, timeout: TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 };
  try {
    await run("apt-get", ["update", "-qq"], options);
    await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium"], options);
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim().slice(-1000) ?? "";
    throw new Error(`Chromium cannot be installed; install the package chromium yourself: ${said}`, { cause: error });
  }
  return PROGRAM;
}
