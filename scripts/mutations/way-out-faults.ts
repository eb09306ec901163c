import type { Fault } from "./faults.ts";

const conclude = (path: string): string => `packages/paperclip/src/conclude/${path}`;

/** What would leave an issue without a way out, or promise more than is proved. */
export const WAY_OUT_FAULTS: readonly Fault[] = [
  {
    what: "an agent that nobody saw stop is said to have stopped, and the next run works beside it",
    file: conclude("way-out.ts"),
    find: '(isStopped(outcome) ? way : "held")',
    replace: "(outcome === null ? way : way)",
    caughtBy: [conclude("way-out.test.ts")],
  },
  {
    what: "a run that used tools before its key was refused counts as untouched, and is simply run again",
    file: conclude("attempts.ts"),
    find: " || report.usedTools === true",
    replace: "",
    caughtBy: [conclude("way-out.test.ts")],
  },
  {
    what: "the last retry of a run that cannot start ends in an issue that the host holds",
    file: "packages/paperclip/src/host/issue.ts",
    find: "isLastRetry: is916 && failureRetries(context) >= HOST_RETRIES",
    replace: "isLastRetry: false",
    caughtBy: [conclude("not-prepared.test.ts")],
  },
  {
    what: "the last retry promises another one, and nobody is asked",
    file: conclude("way-out.ts"),
    find: 'isLastRetry && way === "retry" ? "continue" : way',
    replace: "isLastRetry ? way : way",
    caughtBy: [conclude("way-out.test.ts")],
  },
  {
    what: "a takeover that nobody confirmed loses its code at the last retry, so that no run takes the live Job over",
    file: conclude("way-out.ts"),
    find: 'outcome.cause === "takeover-failed" ? "held" : "person"',
    replace: '"person"',
    caughtBy: [conclude("way-out.test.ts")],
  },
  {
    what: "an end for a person asks the host to try again, so that nobody is asked",
    file: conclude("way-out.ts"),
    find: "      return toPerson(failure, hasWorked(attempts));",
    replace: "      return { ...toPerson(failure, hasWorked(attempts)), ...later };",
    caughtBy: [conclude("way-out.test.ts")],
  },
  {
    what: "a provider's words in a comment work as Markdown and call people",
    file: conclude("summary.ts"),
    find: '.replaceAll("`", "\'")',
    replace: "",
    caughtBy: [conclude("summary.test.ts")],
  },
  {
    what: "a comment that the host refuses fails the run",
    file: conclude("comment.ts"),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    find: ".catch((error: Error) => void log.warning(`no comment on the issue: ${error.message}`))",
    replace: "",
    caughtBy: [conclude("comment.test.ts")],
  },
];
