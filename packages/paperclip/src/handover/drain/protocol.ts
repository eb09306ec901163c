// What passes through a drain socket: one line of JSON each way.

export interface DrainOrder {
  readonly act: "drain" | "undo" | "status";
  /** Told to people in the runs' logs. */
  readonly reason?: string;
  readonly patienceMs?: number;
}

export interface DrainAnswer {
  readonly adapter: string;
  readonly pid: number;
  readonly draining: boolean;
  /** Runs that are executed there now. */
  readonly runs: readonly string[];
  readonly detached: readonly string[];
  readonly staying: readonly string[];
}

const ACTS: readonly unknown[] = ["drain", "undo", "status"];

export function parseOrder(line: string): DrainOrder | null {
  try {
    const order = JSON.parse(line) as DrainOrder;
    return ACTS.includes(order?.act) ? order : null;
  } catch {
    return null;
  }
}
