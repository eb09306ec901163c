import { type Given, placeOf, UsageError } from "./values.ts";

export interface TranscriptCommand {
  readonly name: "transcript";
  /** Its id, or how that begins. */
  readonly run: string;
  readonly data: string;
  readonly instance: string;
}

export function transcriptCommand(given: Given, runs: readonly string[], env: NodeJS.ProcessEnv): TranscriptCommand {
  const [run] = runs;
  if (run === undefined || runs.length > 1 || !/^[0-9a-zA-Z-]{4,}$/.test(run))
    throw new UsageError("transcript takes the id of one run, or how it begins; see paperclip-k8s help transcript");
  const { data, instance } = placeOf(given, env);
  if (data === null) throw new UsageError("transcript needs --data, or PAPERCLIP_HOME: the folder with the runs' files");
  return { name: "transcript", run, data, instance };
}
