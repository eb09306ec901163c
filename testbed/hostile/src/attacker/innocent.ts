import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { INNOCENT, type Orders } from "../orders.ts";
import { get, post } from "./call.ts";

const say = (value: unknown): void => console.log(JSON.stringify(value));

/** Continues its session, says a line, waits, says its last line: all of it is known beforehand. */
export async function work({ url, gate, aim }: Orders): Promise<void> {
  const folder = join(process.env.HOME ?? "", ".agent");
  await post(`${url}/report`, { id: "innocent/home", got: false, saw: homeFiles(folder, aim.task) });
  say({ type: "say", text: INNOCENT.before });
  if (gate !== null) await get(`${url}/gate/${gate}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "session"), INNOCENT.session);
  say({ type: "final", session: INNOCENT.session, cost: INNOCENT.cost, text: INNOCENT.text });
}

/** What its home began with: its own session, and settings that programs follow. */
function homeFiles(folder: string, task: string | undefined): string {
  const read = (path: string): string => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return "";
    }
  };
  const home = process.env.HOME ?? "";
  return JSON.stringify({ task, session: read(join(folder, "session")), gitconfig: read(join(home, ".gitconfig")) });
}
