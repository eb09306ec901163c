import { defineConfig } from "vitest/config";
import { longestFirst } from "./scripts/test/longest-first.ts";
import { Summary } from "./scripts/test/summary.ts";

// `npm test`: needs no cluster, no root and no network; passes on one core and beside a busy machine.
const folders = ["packages", "testbed", "bench", "demo", "scripts"];
// The real CLIs in all their breadth belong to `npm run test:kube`; `npm run test:long` runs them on the embedded cluster too.
const kinds = process.env.LONG ? ["test", "cli-test"] : ["test"];

/** Only there to end what hangs: many times what a test takes on a busy machine. With LONG, some take minutes on an idle one. */
const HANG_MS = process.env.LONG ? 20 * 60_000 : 180_000;

const longest = [
  "api-trouble",
  "cancel",
  "smoke",
  "adoption",
  "adoption-trouble",
  "pod-trouble",
  "operator",
  "restart-loop",
  "volume-trouble",
  "hung-volume",
];

export default defineConfig({
  test: {
    include: folders.flatMap((folder) => kinds.map((kind) => `${folder}/**/*.${kind}.ts`)),
    exclude: ["**/node_modules/**", "**/dist/**"],
    reporters: ["default", new Summary()],
    silent: "passed-only",
    slowTestThreshold: 10_000,
    // Most tests wait for processes rather than compute: more workers than cores.
    maxWorkers: 6,
    sequence: { sequencer: longestFirst(longest) },
    // Files share a worker, and so what they import: the Kubernetes client alone takes half a second of each.
    isolate: false,
    // A test that fails once is a defect to find.
    retry: 0,
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    expect: { poll: { timeout: 60_000 } },
  },
});
