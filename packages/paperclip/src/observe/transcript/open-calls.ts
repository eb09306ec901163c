import type { ToolCallEntry } from "../../agent-cli/entry.ts";
import { callName } from "./call-name.ts";
import { writeToolCall } from "./write-tool-call.ts";

/** More calls than run at the same time; some tools never report an end. */
const MOST = 64;

/** The calls that have no result yet, in the order in which they began. */
export class OpenCalls {
  readonly #names = new Map<string, string>();

  /** The call's line, which no other open call has. */
  begin(call: ToolCallEntry): string {
    const taken = new Set(this.#names.values());
    const lineOf = writeToolCall(call);
    let number = 1;
    // One of so many numbers is free.
    while (number <= MOST && taken.has(callName(lineOf(number)))) number++;
    const line = lineOf(number);
    this.#names.delete(call.id);
    this.#names.set(call.id, callName(line));
    const [oldest] = this.#names.keys();
    if (this.#names.size > MOST && oldest !== undefined) this.#names.delete(oldest);
    return line;
  }

  /** The name that the result of a call needs; null: readers take it for the result of the last call that is open, and are right. */
  end(id: string): string | null {
    const name = this.#names.get(id);
    const last = [...this.#names.keys()].at(-1);
    this.#names.delete(id);
    if (name === undefined) return last === undefined ? null : "an earlier call";
    return id === last ? null : name;
  }
}
