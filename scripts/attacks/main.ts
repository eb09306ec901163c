// Carries out every attack of testbed/hostile and prints a table: `npm run attacks -- [--kube] [--write]`. `--kube`: on the real cluster too; `--write`: into docs/attacks.md.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Row } from "../../testbed/hostile/src/stage/ledger.ts";
import { attackTable } from "./table.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const args = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "attacks-"));
const file = join(folder, "rows");
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

writeFileSync(file, "");
const layers = args.includes("--kube") ? ["unit", "kube"] : ["unit"];
// On standard error, so that standard output has the table and nothing else.
const runs = layers.map((layer) =>
  spawnSync(process.execPath, ["scripts/test/main.ts", layer, "testbed/hostile"], {
    cwd: root,
    env: { ...process.env, ATTACKS_ROWS: file },
    stdio: ["ignore", 2, 2],
  }),
);
const rows = readFileSync(file, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Row);
const table = attackTable(rows, new Date());
console.log(table);
if (args.includes("--write")) writeFileSync(join(root, "docs/attacks.md"), table);
process.exitCode = runs.every(({ status }) => status === 0) ? 0 : 1;
