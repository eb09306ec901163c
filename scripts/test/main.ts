// Runs one layer of tests: `node scripts/test/main.ts <layer> [arguments of vitest]`.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import "../generate.ts";
import { isLayer, LAYERS } from "./layers.ts";

const [layer, ...args] = process.argv.slice(2);
if (!isLayer(layer)) throw new Error(`layer ${layer}: one of ${Object.keys(LAYERS).join(", ")}`);

const root = fileURLToPath(new URL("../..", import.meta.url));
const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
// Vitest colours whatever has a TERM, a file or a pipe too.
const plain = process.stdout.isTTY || process.env.FORCE_COLOR ? {} : { NO_COLOR: "1" };
const env = { ...process.env, ...plain, TEST_LAYER: layer, ...(args.length === 0 ? { TEST_WHOLE: "1" } : {}) };

const run = spawn(process.execPath, [vitest, "run", "--config", LAYERS[layer].config, ...args], { cwd: root, env, stdio: "inherit" });
// A terminal sends Ctrl-C to both; only vitest knows what it has to end first.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => run.kill(signal));
run.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
