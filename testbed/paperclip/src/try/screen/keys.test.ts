import { once } from "node:events";
import { PassThrough } from "node:stream";
import type { ReadStream } from "node:tty";
import { afterEach, expect, test } from "vitest";
import { type Key, type Keys, listen } from "./keys.ts";

let keys: Keys | null = null;
afterEach(() => keys?.stop());

function listening(terminal: boolean) {
  const pressed: Key[] = [];
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), { isTTY: terminal, setRawMode: (raw: boolean) => modes.push(raw) });
  keys = listen(input as unknown as ReadStream, (key) => pressed.push(key));
  const write = async (text: string) => {
    const heard = once(input, "data");
    input.write(text);
    await heard;
  };
  return { pressed, modes, write };
}

test("without a terminal a line is a key, SIGUSR2 is r, and the words say so", async () => {
  const { pressed, modes, write } = listening(false);
  await write("w\nwr\n\n q \n");
  process.emit("SIGUSR2");
  expect(pressed).toEqual(["w", "q", "r"]);
  expect(modes).toEqual([]);
  expect(keys?.keyHelp).toContain(`kill -USR2 ${process.pid}`);
});

test("in a terminal each character is a key and Ctrl-C is q; the terminal is given back", async () => {
  const { pressed, modes, write } = listening(true);
  await write("rx");
  await write("\u0003");
  expect(pressed).toEqual(["r", "q"]);
  keys?.stop();
  expect(modes.slice(0, 2)).toEqual([true, false]);
  process.once("SIGUSR2", () => {}); // nobody else listens: it would end the process
  process.emit("SIGUSR2");
  expect(pressed).toHaveLength(2);
});
