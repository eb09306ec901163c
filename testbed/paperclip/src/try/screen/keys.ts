import type { ReadStream } from "node:tty";

export type Key = "w" | "p" | "r" | "h" | "q";
const KEYS: ReadonlySet<string> = new Set<Key>(["w", "p", "r", "h", "q"]);
const CTRL_C = "\u0003";

export interface Keys {
  /** How to press one where there is no terminal; null = as usual. */
  readonly keyHelp: string | null;
  stop(): void;
}

/** Single keys of a terminal; without one, lines of the input. SIGUSR2 is r everywhere, Ctrl-C is q. */
export function listen(input: ReadStream, press: (key: Key) => void): Keys {
  const terminal = input.isTTY === true;
  const hear = (chunk: Buffer) => {
    const text = chunk.toString();
    const pressed = terminal ? [...text] : text.split("\n").map((line) => line.trim());
    for (const one of pressed) {
      if (one === CTRL_C) press("q");
      else if (KEYS.has(one)) press(one as Key);
    }
  };
  const restart = () => press("r");
  if (terminal) input.setRawMode(true);
  input.on("data", hear);
  input.on("error", () => {}); // no input at all is fine
  process.on("SIGUSR2", restart);
  return {
    keyHelp: terminal ? null : `without a terminal, write to its input one line each (r also by kill -USR2 ${process.pid})`,
    stop() {
      if (terminal) input.setRawMode(false);
      input.off("data", hear);
      input.pause();
      process.off("SIGUSR2", restart);
    },
  };
}
