// What a run of the test bed is asked to do, and what it reports: between the test and the program in the pod.

/** Given to the program in the variable ORDERS. */
export interface Orders {
  /** `innocent`: does its work and keeps a session. `attack`: tries one attack after the other. */
  readonly role: "innocent" | "attack";
  /** The test's own server, as a pod reaches it. */
  readonly url: string;
  /** The program waits for this gate before its end; null = it ends by itself. */
  readonly gate: string | null;
  readonly attacks: readonly string[];
  /** What attacks are aimed at, by name: paths, addresses, ids. The attacker knows everything but keys. */
  readonly aim: Readonly<Record<string, string>>;
}

/** What became of one attack, as its pod saw it. */
export interface Report {
  readonly id: string;
  /** The pod got what it wanted. */
  readonly got: boolean;
  readonly saw: string;
}

/** Stands in everything that an attack writes: where it is found, the attack has come through. */
export const MARK = "FORGED-BY-ATTACKER";

/** What an innocent run says and costs, to be found unchanged. */
export const INNOCENT = { session: "ses-innocent", cost: 0.25, text: "innocent work is done", before: "innocent work has begun" } as const;
