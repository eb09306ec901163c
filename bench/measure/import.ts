import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { BUDGETS } from "../budgets.ts";
import { median, type Row } from "../figures.ts";

const PACKAGES = fileURLToPath(new URL("../../packages", import.meta.url));
const TIMES = 7;

/** A server that serves HTTP and starts processes has loaded these. */
const OF_ANY_SERVER = ["node:https", "node:child_process", "node:timers/promises", "node:zlib"];

/** What the host waits for when it loads an adapter: its built entry, in a fresh process with the modules of any server. */
export function measureImport(): Row[] {
  const adapters = readdirSync(PACKAGES).filter((name) => name.startsWith("adapter-"));
  return adapters.flatMap((name) => {
    const entry = join(PACKAGES, name, "dist/index.js");
    if (!existsSync(entry)) return [];
    const took = median(Array.from({ length: TIMES }, () => importOnce(entry)));
    return [
      {
        what: `import of ${name}'s entry, median of ${TIMES}`,
        budget: `${BUDGETS.import} ms`,
        measured: `${took.toFixed(1)} ms`,
        ok: took <= BUDGETS.import,
      },
    ];
  });
}

function importOnce(entry: string): number {
  const program = `${OF_ANY_SERVER.map((name) => `import "${name}";`).join(" ")} const begun = performance.now(); await import(process.argv[1]); console.log(performance.now() - begun);`;
  const args = ["--input-type=module", "-e", program, pathToFileURL(entry).href];
  return Number(execFileSync(process.execPath, args, { encoding: "utf8" }));
}
