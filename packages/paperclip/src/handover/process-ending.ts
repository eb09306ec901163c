const SIGNALS = ["SIGTERM", "SIGINT"] as const;
/** Marks our listeners, also those of another package of ours in the same process. */
const OURS = Symbol.for("paperclip-k8s/process-ending");

type Listener = ((signal: NodeJS.Signals) => void) & { [OURS]?: true };

/**
 * Aborted when the process is asked to end. A host then discards what its runs return, and lives on for seconds: what they leave in the
 * cluster is the only copy. A process without a listener of its own ends at once, which our listener alone would prevent: it is there only
 * beside another one.
 */
export function processEnding(): AbortSignal {
  const ending = new AbortController();
  for (const signal of SIGNALS) {
    const heard: Listener = () => ending.abort(new Error(`the server got ${signal}`));
    heard[OURS] = true;
    const isAdded = () => process.listeners(signal).includes(heard);
    const hasOthers = () => process.listeners(signal).some((listener) => !(listener as Listener)[OURS]);
    process.on("newListener", (name, listener: Listener) => {
      if (name === signal && !listener[OURS] && !isAdded()) process.prependListener(signal, heard);
    });
    process.on("removeListener", (name, listener: Listener) => {
      if (name === signal && !listener[OURS] && !hasOthers()) process.removeListener(signal, heard);
    });
    if (hasOthers()) process.prependListener(signal, heard);
  }
  return ending.signal;
}
