import type { Field } from "@paperclip-k8s/paperclip";
import { inspectPolicy, type PolicyRow } from "@paperclip-k8s/paperclip/policy";
import { agentClis } from "../../../agent-clis.ts";
import type { Command } from "../arguments/command.ts";
import { WIDTH } from "../table.ts";
import { EXIT, type ExitCode, type Terminal } from "../terminal.ts";

export async function policy({ file, json }: Extract<Command, { name: "policy" }>, { out, err, env }: Terminal): Promise<ExitCode> {
  const clis = await Promise.all(Object.values(agentClis).map((load) => load()));
  const own = clis.flatMap(({ settings }) => Object.values<Field<unknown>>(settings.own));
  const { source, problems, policy, rows } = await inspectPolicy(file, env, own);
  const code = problems.length === 0 ? EXIT.done : EXIT.error;
  if (json) {
    for (const line of JSON.stringify({ source, problems, policy }, null, 2).split("\n")) out(line);
    return code;
  }
  for (const problem of problems) err(`${source}: ${problem}`);
  if (problems.length > 0) {
    err("a server with this policy starts no run");
    return code;
  }
  out(source === null ? "no policy file: the built-in defaults are in force" : `${source} is valid; in force is:`);
  out("");
  for (const line of rows.flatMap(linesOf)) out(line);
  return code;
}

const KEYS = 34;

/** One row on as many lines as its list needs. */
function linesOf({ key, value, isDefault }: PolicyRow): string[] {
  const words = (Array.isArray(value) ? value.map(shown) : [shown(value)]).map((word, at, all) =>
    at < all.length - 1 ? `${word},` : word,
  );
  if (words.length === 0) words.push("none");
  if (isDefault) words.push("(default)");
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length + 1 <= WIDTH) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`${(last === undefined ? key : "").padEnd(KEYS)} ${word}`);
  }
  return lines;
}

function shown(value: unknown): string {
  if (value === null) return "not set";
  if (typeof value === "object" && Object.keys(value).length === 0) return "none";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
