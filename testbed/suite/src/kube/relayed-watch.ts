import type { IncomingMessage, ServerResponse } from "node:http";

/** One open watch on its way through the proxy, event by event. */
export class RelayedWatch {
  readonly #response: ServerResponse;

  constructor(incoming: IncomingMessage, response: ServerResponse, mood: () => { silent: boolean; duplicating: boolean }) {
    this.#response = response;
    let rest = Buffer.alloc(0);
    incoming.on("error", () => response.destroy());
    incoming.on("end", () => response.end());
    incoming.on("data", (chunk: Buffer) => {
      const bytes = Buffer.concat([rest, chunk]);
      const end = bytes.lastIndexOf(0x0a) + 1;
      rest = bytes.subarray(end);
      const { silent, duplicating } = mood();
      if (silent || end === 0) return;
      const events = bytes.subarray(0, end);
      response.write(duplicating ? twice(events) : events);
    });
  }

  cut(): void {
    this.#response.destroy();
  }
}

function twice(events: Buffer): string {
  return events
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => `${line}\n${line}\n`)
    .join("");
}
