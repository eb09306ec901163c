// What a CLI gets in a pod that has no settings of its own for it.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import type { ResolvedDefaults } from "../read-spec.ts";

/** The CLI's environment with the defaults, without those for which the image or whoever has filled the home has settings of its own. */
export function withDefaults(env: NodeJS.ProcessEnv, defaults: readonly ResolvedDefaults[]): NodeJS.ProcessEnv {
  const home = env.HOME;
  if (home === undefined || !isAbsolute(home)) return env;
  // Before any of them is written: they are each other's settings otherwise.
  const wanted = defaults.filter(
    ({ unless, unlessSet }) =>
      !unless.some((path) => existsSync(isAbsolute(path) ? path : join(home, path))) &&
      // An image's own variables are seen only here.
      !unlessSet?.some((name) => env[name] !== undefined),
  );
  for (const { files } of wanted) for (const [path, text] of Object.entries(files)) write(join(home, path), text);
  return { ...Object.assign({}, ...wanted.map((each) => each.env)), ...env };
}

/** They only save the CLI work, so that one which cannot be written is left out. */
function write(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { flag: "wx", mode: 0o600 });
  } catch {}
}
