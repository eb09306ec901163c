// One listener for all clusters of a process: what is still registered when it exits is cleaned up then.
const pending = new Set<() => void>();

function runAll(): void {
  for (const act of pending) act();
}

export function onExit(act: () => void): () => void {
  if (pending.size === 0) process.once("exit", runAll);
  pending.add(act);
  return () => {
    pending.delete(act);
    if (pending.size === 0) process.off("exit", runAll);
  };
}
