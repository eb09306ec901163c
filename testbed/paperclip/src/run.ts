import { execFile } from "node:child_process";
import { promisify } from "node:util";

const TIMEOUT_MS = 10 * 60_000;

/** Runs a program to its end and gives what it printed; a failure says what it said. */
export async function run(program: string, args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)(program, args, { timeout: TIMEOUT_MS, maxBuffer: 64 << 20 })).stdout;
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim().slice(-2000) || (error as Error).message;
    throw new Error(`${program} ${args.slice(0, 4).join(" ")}: ${said}`, { cause: error });
  }
}
