import { DRAIN_FAULTS } from "./drain-faults.ts";
import { FILE_FAULTS } from "./file-faults.ts";
import { INPUT_FAULTS } from "./input-faults.ts";
import { POD_FAULTS } from "./pod-faults.ts";
import { POLICY_FAULTS } from "./policy-faults.ts";
import { RECORD_FAULTS } from "./record-faults.ts";
import { RECOVER_FAULTS } from "./recover-faults.ts";
import { RUN_FAULTS } from "./run-faults.ts";
import { TOOLS_FAULTS } from "./tools-faults.ts";
import { TRANSCRIPT_FAULTS } from "./transcript-faults.ts";
import { WAY_OUT_FAULTS } from "./way-out-faults.ts";

/** A deliberate fault in product code, which `npm test` has to catch. */
export interface Fault {
  /** What it would do to a user. */
  readonly what: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** Test files of `npm test`, one of which fails; only they are run. */
  readonly caughtBy: readonly string[];
  /** Of a file with attacks: only these are carried out. */
  readonly attacks?: readonly string[];
}

export const FAULTS: readonly Fault[] = [
  ...RUN_FAULTS,
  ...DRAIN_FAULTS,
  ...WAY_OUT_FAULTS,
  ...INPUT_FAULTS,
  ...POD_FAULTS,
  ...POLICY_FAULTS,
  ...FILE_FAULTS,
  ...RECORD_FAULTS,
  ...RECOVER_FAULTS,
  ...TRANSCRIPT_FAULTS,
  ...TOOLS_FAULTS,
];
