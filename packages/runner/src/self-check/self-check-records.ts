/** What a pod is asked to find out about itself. */
export interface SelfCheckConfig {
  /** Program whose `--version` is asked for. */
  readonly cli: string;
  /** Asked for with GET; null = nothing to ask. */
  readonly url: string | null;
  /** Folders it must be able to write to, by name. `$NAME` stands for that variable of the environment. */
  readonly folders: Readonly<Record<string, string>>;
  /** For each finding. */
  readonly timeoutMs: number;
}

/** One finding: one line of the self-check's output. */
export interface SelfCheckFinding {
  /** `runtime`, `cli`, `url`, or `folder:<name>`. */
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  /** Of `cli`: there is no such program. */
  readonly missing?: boolean;
}
