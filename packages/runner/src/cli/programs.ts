// Programs of the run's own that stand before the image's in the CLI's PATH: Node scripts, started by the Node that runs the runner.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../files.ts";
import type { RunnerConfig } from "../read-spec.ts";
import { withFolders } from "./start-cli.ts";

/** The folder is the pod's own. Without it the CLI finds the image's programs only, which a note says. */
export function withPrograms(
  env: NodeJS.ProcessEnv,
  { spec, folder }: Pick<RunnerConfig, "spec" | "folder">,
  note: (text: string) => void,
): NodeJS.ProcessEnv {
  const programs = Object.entries(spec.programs ?? {});
  if (programs.length === 0) return env;
  try {
    // Not the mounted Secret itself: its files are links to a folder that changes, and none of its other files belongs in a PATH.
    const own = mkdtempSync(join(env.TMPDIR || "/tmp", "programs-"));
    for (const [name, { file }] of programs) {
      // The image need not have a Node, and a shell may change the PATH in which `env` would look for it.
      const text = readFileSync(join(folder, file), "utf8").replace(/^#!.*/, `#!${process.execPath}`);
      writeFileSync(join(own, name), text, { mode: 0o700 });
    }
    writeFileSync(join(own, BASH_FILE), startText(own, env.BASH_ENV));
    for (const name of ZSH_FILES) writeFileSync(join(own, name), startText(own, join(env.ZDOTDIR || env.HOME || "/", name)));
    return { ...withFolders(env, [], [own]), BASH_ENV: join(own, BASH_FILE), ZDOTDIR: own };
  } catch (error) {
    note(`${programs.map(([name]) => name).join(" and ")} cannot be put before the image's own (${codeOf(error)})`);
    return env;
  }
}

// A login shell sets PATH anew from /etc/profile. These files are read after that: by bash the one that BASH_ENV names, by zsh those in ZDOTDIR.
const BASH_FILE = ".bashrc";
const ZSH_FILES = [".zshenv", ".zprofile", ".zshrc"];

/** `earlier` is the file that would have been read instead. */
function startText(own: string, earlier: string | undefined): string {
  const load = earlier ? `[ ! -r ${quoted(earlier)} ] || . ${quoted(earlier)}\n` : "";
  return `${load}case "$PATH" in ${quoted(own)}:*) ;; *) export PATH=${quoted(own)}:"$PATH" ;; esac\n`;
}

const quoted = (path: string): string => `'${path.replaceAll("'", "'\\''")}'`;
