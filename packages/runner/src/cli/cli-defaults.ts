// What a CLI gets in a pod that has no settings of its own for it.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import type { ResolvedDefaults } from "../read-spec.ts";

/** The CLI's environment with the defaults; unchanged where the image or whoever has filled the home has settings for the CLI. */
export function withDefaults(env: NodeJS.ProcessEnv, defaults: ResolvedDefaults | null): NodeJS.ProcessEnv {
  const home = env.HOME;
  if (defaults === null || home === undefined || !isAbsolute(home)) return env;
  if (defaults.unless.some((path) => existsSync(isAbsolute(path) ? path : join(home, path)))) return env;
  // An image's own variables are seen only here.
  if (defaults.unlessSet?.some((name) => env[name] !== undefined)) return env;
  for (const [path, text] of Object.entries(defaults.files)) write(join(home, path), text);
  const unset = Object.entries(defaults.env).filter(([name]) => env[name] === undefined);
  return { ...env, ...Object.fromEntries(unset) };
}

/** They only save the CLI work, so that one which cannot be written is left out. */
function write(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { flag: "wx", mode: 0o600 });
  } catch {}
}
