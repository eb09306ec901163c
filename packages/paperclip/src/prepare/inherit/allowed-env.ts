import { isListed } from "./allowlist.ts";
import { withheld } from "./denylist.ts";

/** Of the server's own variables, those that reach a model or a network and that any run may have: for programs it starts itself. */
export function listedEnv(env: NodeJS.ProcessEnv): Record<string, string> {
  const names = Object.keys(env);
  const listed = names.filter((name) => isListed(name) && withheld(name, names) === null);
  return Object.fromEntries(listed.map((name) => [name, env[name] ?? ""]));
}
