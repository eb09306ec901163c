/** The oldest Node that the runner runs on. */
export const OLDEST_NODE = 18;
/** The runner itself, beside the file that the pod starts. */
export const RUNNER_MAIN = "runner-main.cjs";
