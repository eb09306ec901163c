/**
 * Aborted when the process is asked to end. A host then discards what its runs return, and lives on for seconds: what they leave in the
 * cluster is the only copy.
 */
export function processEnding(): AbortSignal {
  const ending = new AbortController();
  // First of all listeners, so that those of the host are counted before they remove themselves.
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.prependOnceListener(signal, () => {
      ending.abort(new Error(`the server got ${signal}`));
      // A process that nobody ends would not end because of this listener.
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    });
  return ending.signal;
}
