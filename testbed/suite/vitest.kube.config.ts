import { defineConfig } from "vitest/config";

const root = new URL("../..", import.meta.url).pathname;
// A node of two cores is slow at times: what fails once is tried again and told as flaky.
const common = {
  root,
  env: { CLUSTER: "kube" },
  testTimeout: 60_000,
  hookTimeout: 60_000,
  retry: 1,
  expect: { poll: { timeout: 30_000, interval: 50 } },
};

// Faults of the node or the API server, second clusters, and counts of requests: nothing may run beside them.
const alone = [
  "testbed/suite/src/load.test.ts",
  "testbed/suite/src/pod-trouble.test.ts",
  "testbed/suite/src/kube/api-server.kube-test.ts",
  "testbed/kube/src/**/*.kube-test.ts",
];

// The suite of the embedded cluster, the same files, on the real one; and what only a real one can show.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...common,
          name: "together",
          include: ["testbed/suite/src/**/*.test.ts", "testbed/suite/src/**/*.kube-test.ts"],
          exclude: [...alone, "**/node_modules/**"],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      { test: { ...common, name: "alone", include: alone, fileParallelism: false, sequence: { groupOrder: 2 } } },
    ],
  },
});
