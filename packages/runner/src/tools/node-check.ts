// What the pod starts: `node runner.cjs <termination log>`. An old Node cannot even read the runner, so this small file, in words that every
// Node knows, looks at the version first and then hands over.
import { writeFileSync } from "node:fs";
import { RUNNER_EXIT } from "../records.ts";
import { OLDEST_NODE, RUNNER_MAIN } from "./runner-files.ts";

const version = process.versions.node;

if (parseInt(version, 10) < OLDEST_NODE) {
  const text = `Node ${version} is too old, the runner needs Node ${OLDEST_NODE} or newer`;
  try {
    writeFileSync(process.argv[2] || "", text);
  } catch (_) {
    // The exit code says the same.
  }
  process.stderr.write(`runner: ${text}\n`);
  process.exit(RUNNER_EXIT.oldRuntime);
} else {
  // Not known when this file is made: the runner lies beside it in the pod.
  const load = require;
  load(`./${RUNNER_MAIN}`);
}
