import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { MARK, type Orders } from "../orders.ts";

/** One attack: a line of the table, and what the pod does. */
export interface Attack {
  readonly tries: string;
  /** What must happen instead. */
  readonly must: string;
  /** The embedded cluster's pods are processes that see the whole disk: some boundaries only containers have. */
  readonly only?: "kube";
  readonly attack: (aim: Orders["aim"], orders: Orders) => Attempted | Promise<Attempted>;
}

export type Attacks = Readonly<Record<string, Attack>>;

/** `got`: the pod has what it wanted. What shows elsewhere, in another run or on the server, is checked there. */
export interface Attempted {
  readonly got: boolean;
  readonly saw: string;
}

export const wrote = (what: string): Attempted => ({ got: false, saw: `wrote ${what}` });

export function reads(path: string | undefined): Attempted {
  const text = readFileSync(path ?? "");
  return { got: true, saw: `read ${text.length} bytes of ${path}` };
}

export function writes(path: string | undefined, text = MARK): Attempted {
  mkdirSync(dirname(path ?? ""), { recursive: true });
  writeFileSync(path ?? "", text);
  return { got: true, saw: `wrote ${path}` };
}

/** Adds lines to a file that another run reads; what comes of it shows there. */
export function appends(path: string | undefined, ...lines: readonly (string | Buffer)[]): Attempted {
  for (const line of lines) appendFileSync(path ?? "", Buffer.concat([Buffer.from(line), Buffer.from("\n")]));
  return wrote(`${lines.length} line${lines.length === 1 ? "" : "s"}`);
}
