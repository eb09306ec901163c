// What the server and its reader process say to each other over the IPC channel.

/** Largest piece of a file in one message. */
export const chunkBytes = 64 * 1024;
/** How much of one file may be on its way to a consumer that has not taken it yet. */
export const creditBytes = 256 * 1024;

export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** A request that is answered with the same `ask` number, once. All of them may be repeated without harm. */
export type Question =
  | { readonly type: "refresh"; readonly ask: number; readonly id: number }
  | {
      readonly type: "prepare";
      readonly ask: number;
      readonly paths: readonly string[];
      readonly folders: readonly string[];
      readonly owner: FileOwner | null;
    }
  | { readonly type: "remove"; readonly ask: number; readonly paths: readonly string[] };

export type ToReader =
  | Question
  | {
      readonly type: "open";
      readonly id: number;
      readonly path: string;
      readonly offset: number;
      readonly expected: number;
      /** The consumer was told of trouble with this file and waits to hear that it is over. */
      readonly troubled: boolean;
    }
  | { readonly type: "close"; readonly id: number }
  | { readonly type: "ack"; readonly id: number; readonly bytes: number }
  | { readonly type: "expect"; readonly id: number; readonly bytes: number };

export type Answer =
  | { readonly type: "done"; readonly ask: number }
  | { readonly type: "failed"; readonly ask: number; readonly fault: Fault }
  /** Everything up to `offset` has been sent. */
  | { readonly type: "refreshed"; readonly ask: number; readonly offset: number; readonly missing: boolean };

export type FromReader =
  | Answer
  | { readonly type: "alive" }
  | { readonly type: "bytes"; readonly id: number; readonly offset: number; readonly bytes: Buffer }
  | { readonly type: "trouble"; readonly id: number; readonly fault: Fault }
  | { readonly type: "well"; readonly id: number };

/** An error of the file system as plain data. */
export interface Fault {
  /** `ENOENT`, `EACCES`, … */
  readonly errno: string;
  readonly message: string;
  readonly path: string;
}

export function faultOf(error: unknown, path: string): Fault {
  const { code, message, path: own } = error as NodeJS.ErrnoException;
  return { errno: code ?? "", message: message ?? String(error), path: own ?? path };
}
