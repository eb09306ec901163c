import { defineConfig } from "vitest/config";

// A server that is killed and started again takes minutes each time: those go to `npm run test:long`.
const long = ["restart", "operator", "folded-comment"].map((name) => `system/${name}.system.ts`);

// Real servers, real CLI: run by `npm run test:system`, not by `npm test`, which takes only *.test.ts.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["system/*.system.ts"],
    exclude: process.env.LONG ? [] : long,
    // Hosts, browsers and clusters at once on a small machine: what fails once is tried again and told as flaky.
    retry: 1,
    globalSetup: ["system/setup.ts"],
    pool: "forks", // a thread cannot give up root
    maxWorkers: 2, // much of the time is the host's own waiting
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
