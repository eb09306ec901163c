/** What the figures are held against, in one place: the budgets of the design. Times are in milliseconds unless the name says otherwise. */
export const BUDGETS = {
  /** Line written → `onLog`, where a wake-up reaches the server. */
  woken: { p50: 3, p99: 30 },
  /** The same with 30 runs on the real cluster and 144 on the embedded one. */
  wokenMany: { p50: 3, p99: 60 },
  /** The same by polling alone. */
  polled: { p50: 15, p99: null },
  /** First line after a silence. */
  silence: { woken: 50, polled: 300 },
  requestsPerRun: 3,
  requestsPerSecondOf500: 0.1,
  /** Last line → `execute` returns. */
  return: { few: 300, many: 600 },
  /** `execute` → CLI started, over a bare Job. */
  start: 80,
  /** The same where many start at once: times what the same number of bare Jobs needs. */
  startAtOnce: 1.25,
  /** The next run of a task, over the first. */
  next: 200,
  missingImage: 2_000,
  cpuOfMinuteSec: 0.1,
  memoryPerQuietRunKib: 32,
  /** Of the server, by the output of one run. */
  growthMib: 4,
  cpuOf500Percent: 10,
  /** The server's event loop is never blocked longer. */
  blocked: 20,
  /** Of one core, by a flood of forged datagrams. */
  floodPercent: 5,
  reattach: 5_000,
  import: 30,
  tools: 300,
  state: 1_000,
} as const;

/** From so many runs at once on, the budgets of many count. */
export const MANY = 30;

export interface LineBudget {
  readonly p50: number;
  readonly p99: number | null;
}
