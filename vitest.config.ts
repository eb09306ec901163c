import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/**/*.test.ts", "testbed/**/*.test.ts", "demo/**/*.test.ts", "scripts/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    // Most tests wait for processes rather than compute: more workers than cores.
    maxWorkers: 3,
    // A slow moment of a busy machine is told as flaky there; at a desk it should be seen.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A second, the default, is little on a machine that does other things too.
    expect: { poll: { timeout: 15_000 } },
  },
});
