import { defineConfig } from "vitest/config";
import { longestFirst } from "../../scripts/test/longest-first.ts";
import { Summary } from "../../scripts/test/summary.ts";

const root = new URL("../..", import.meta.url).pathname;
/** Only there to end what hangs. */
const HANG_MS = process.env.LONG ? 20 * 60_000 : 300_000;
const common = {
  root,
  env: { CLUSTER: "kube" },
  testTimeout: HANG_MS,
  hookTimeout: HANG_MS,
  // A second attempt is counted and printed as a defect.
  retry: 1,
  expect: { poll: { timeout: 60_000, interval: 50 } },
};

const SUITE = "testbed/suite/src";
// Faults of the node or the API server, and counts of requests: nothing may run beside them.
const alone = [
  `${SUITE}/load.test.ts`,
  `${SUITE}/pod-trouble.test.ts`,
  `${SUITE}/kube/api-server.kube-test.ts`,
  // The test bed itself, with clusters of its own.
  ...(process.env.LONG ? ["testbed/kube/src/**/*.kube-test.ts"] : []),
];
// They show nothing that depends on the cluster (trouble is made on the wire, in front of it): `npm test` runs them on the embedded one.
const ONLY_EMBEDDED = [
  "recorded",
  "cancel-host",
  "reattach",
  "test-clock",
  "adoption-trouble",
  "refusals",
  "admission-overlap",
  "frozen-api",
  "hostile-records",
  "hung-volume",
  "silent-cli",
];
const embedded = process.env.LONG ? [] : ONLY_EMBEDDED.map((name) => `${SUITE}/${name}.test.ts`);
const longest = ["state-parallel", "dedicated-sessions", "state-modes", "claude-endings", "api-trouble", "cancel", "state-endings"];

// The embedded cluster's suite on the real one, the real CLIs in their breadth, and what only a real cluster can show.
export default defineConfig({
  test: {
    reporters: ["default", new Summary()],
    globalSetup: [`${root}testbed/kube/src/watch-setup.ts`],
    slowTestThreshold: 20_000,
    sequence: { sequencer: longestFirst(longest) },
    projects: [
      {
        test: {
          ...common,
          name: "together",
          include: [`${SUITE}/**/*.{test,cli-test,kube-test}.ts`, "packages/*/src/**/*.cli-test.ts", "testbed/hostile/src/*.test.ts"],
          exclude: [...alone, ...embedded, "**/node_modules/**"],
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...common,
          name: "alone",
          include: alone,
          exclude: ["**/node_modules/**"],
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
