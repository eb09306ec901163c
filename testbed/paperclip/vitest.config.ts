import { defineConfig } from "vitest/config";

// Real servers, real CLI: run by `npm run test:hosts`, not by `npm test`, which takes only *.test.ts.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["system/*.system.ts"],
    globalSetup: ["system/setup.ts"],
    pool: "forks", // a thread cannot give up root
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
