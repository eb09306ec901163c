/** Private places of a run's pod: empty at its start, gone at its end. */
export const HOME_MOUNT = "/agent/home";
export const TMP_MOUNT = "/agent/tmp";
/** Where a claim of the agent's own is. Not below the home: folders made on the way to a mount belong to root. */
export const CLAIM_MOUNT = "/agent/state";
/** Where the operator's Secret is whose keys are copied into the home. */
export const SEEDS_MOUNT = "/agent/seeds";

/** Names under which programs look for a folder for temporary files. */
export const TEMP_NAMES = ["TMPDIR", "TMP", "TEMP"] as const;

/** Names under which agents find their scratch folder; the host's prompt refers to them. */
export const SCRATCH_NAMES = [
  "PAPERCLIP_SCRATCH_DIR",
  "PAPERCLIP_RUN_SCRATCH_DIR",
  "PAPERCLIP_TASK_SCRATCH_DIR",
  "PAPERCLIP_TMPDIR",
] as const;

/** Nothing overrides these: a home or temporary folder of another machine breaks every program that writes there. */
export const FORCED: Readonly<Record<string, string>> = {
  HOME: HOME_MOUNT,
  XDG_CONFIG_HOME: `${HOME_MOUNT}/.config`,
  XDG_CACHE_HOME: `${HOME_MOUNT}/.cache`,
  XDG_STATE_HOME: `${HOME_MOUNT}/.local/state`,
  XDG_DATA_HOME: `${HOME_MOUNT}/.local/share`,
  ...Object.fromEntries([...TEMP_NAMES, ...SCRATCH_NAMES].map((name) => [name, TMP_MOUNT])),
};
