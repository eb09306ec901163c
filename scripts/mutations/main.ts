// Puts each deliberate fault into a copy of the project and runs the tests that have to catch it: `npm run test:mutations [words of a fault]`.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DEFENCES } from "./defences.ts";
import { FAULTS, type Fault } from "./faults.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const wanted = process.argv.slice(2).join(" ");
const faults = [...FAULTS, ...DEFENCES].filter(({ what, file }) => `${what} ${file}`.includes(wanted));
const copy = mkdtempSync(join(tmpdir(), "mutations-"));
process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

copyProject();
const missed = faults.filter((fault, index) => !isCaught(fault, `${index + 1}/${faults.length}`));
console.log(`\n${faults.length - missed.length} of ${faults.length} faults caught by npm test`);
for (const { what } of missed) console.log(`not caught: ${what}`);
process.exitCode = missed.length > 0 || faults.length === 0 ? 1 : 0;

/** The work tree, with links to what npm has installed; the workspaces' own links lead into the copy. */
function copyProject(): void {
  const skip = new Set(["node_modules", ".git"]);
  for (const name of readdirSync(root)) if (!skip.has(name)) cpSync(join(root, name), join(copy, name), { recursive: true });
  linkModules("node_modules");
}

function linkModules(folder: string): void {
  mkdirSync(join(copy, folder));
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(join(root, path)), join(copy, path));
    else if (entry.name.startsWith("@")) linkModules(path);
    else symlinkSync(join(root, path), join(copy, path));
  }
}

function isCaught({ what, file, find, replace, caughtBy, attacks = [] }: Fault, number: string): boolean {
  const path = join(copy, file);
  const text = readFileSync(path, "utf8");
  if (text.split(find).length !== 2)
    throw new Error(`${file} does not have exactly one ${JSON.stringify(find)}: bring scripts/mutations up to date`);
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
  const begun = performance.now();
  // A fault may make a test hang; the first that fails is enough.
  const args = ["scripts/test/main.ts", "unit", ...caughtBy, "--bail=1", `--testTimeout=${attacks.length > 0 ? 90_000 : 30_000}`];
  const env = { ...process.env, NO_COLOR: "1", ATTACKS: attacks.join(",") };
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: copy, encoding: "utf8", env });
  writeFileSync(path, text);
  const by = /^Failed:\n {2}(.*)$/m.exec(stdout)?.[1] ?? "";
  const caught = status !== 0 && by !== "";
  console.log(
    `${number} ${caught ? "caught" : "NOT CAUGHT"} after ${Math.round((performance.now() - begun) / 1000)} s: ${what}\n      ${by}`,
  );
  return caught;
}
