import { defineConfig } from "vitest/config";
import { longestFirst } from "../../scripts/test/longest-first.ts";
import { Summary } from "../../scripts/test/summary.ts";

const longest = ["restart", "cluster", "browser", "ends", "host", "operator", "earlier", "recover", "folded-comment"];

/** A hang, not a measure: who waits in a test says in vain for what, long before. */
const HANG_MS = 20 * 60_000;

// Real servers, real CLI: run by `npm run test:system`, not by `npm test`, which takes only *.test.ts.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["system/*.system.ts"],
    reporters: ["default", new Summary()],
    slowTestThreshold: 60_000,
    // A second attempt is counted and printed as a defect.
    retry: 1,
    globalSetup: ["system/setup.ts"],
    pool: "forks", // a thread cannot give up root
    maxWorkers: 3, // much of the time is the host's own waiting
    maxConcurrency: 3, // each has its agent and its pages
    sequence: { sequencer: longestFirst(longest) },
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
  },
});
