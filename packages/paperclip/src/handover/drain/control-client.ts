import { connect } from "node:net";
import {
  type ControlAnswer,
  type ControlCommand,
  earlierFolder,
  encodeCommand,
  type FoundSocket,
  findSockets,
  parseAnswer,
  socketFolders,
} from "./control-socket.ts";

/** An adapter answers at its deadline; this is for a busy machine. */
const SLACK_MS = 5000;
/** An undo is answered at once. */
const UNDO_MS = 30_000;
/** An adapter's answer is shorter, even with thousands of runs; a longer one is not read to its end. */
const MAX_ANSWER_BYTES = 1024 * 1024;

export interface ControlOptions {
  readonly env: NodeJS.ProcessEnv;
  /** For tests. */
  readonly folders?: readonly string[];
  readonly earlier?: string;
  readonly timeoutMs?: number;
}

export interface ControlAnswers {
  readonly answers: readonly ControlAnswer[];
  /** Processes that have a live socket and gave no answer, or none that can be read. */
  readonly unanswered: readonly { readonly pid: number; readonly why: string }[];
}

type Answer = ControlAnswer | { readonly why: string } | "nobody";

/** Sends a command to every adapter of this instance on this machine. */
export async function sendCommand(command: ControlCommand, options: ControlOptions): Promise<ControlAnswers> {
  const sockets = await socketsOf(options);
  const timeoutMs = options.timeoutMs ?? (command.command === "drain" ? command.timeoutMs + SLACK_MS : UNDO_MS);
  const all = await Promise.all(sockets.map(async ({ path, pid }) => ({ pid, answer: await ask(path, command, timeoutMs) })));
  return {
    answers: all.flatMap(({ answer }) => (typeof answer === "object" && "adapter" in answer ? [answer] : [])),
    unanswered: all.flatMap(({ pid, answer }) => (typeof answer === "object" && "why" in answer ? [{ pid, why: answer.why }] : [])),
  };
}

/** Sockets on the volume are used only if there is none elsewhere, because an agent's pod may have made them. */
async function socketsOf({ env, folders = socketFolders(env), earlier = earlierFolder(env) }: ControlOptions): Promise<FoundSocket[]> {
  const found = (await Promise.all(folders.map((folder) => findSockets(folder, env)))).flat();
  return found.length > 0 ? found : findSockets(earlier, env);
}

/** Nobody is behind a socket that takes no connection; whoever takes one owes an answer. */
function ask(path: string, command: ControlCommand, timeoutMs: number): Promise<Answer> {
  return new Promise((resolve) => {
    let text = "";
    let connected = false;
    const socket = connect(path, () => {
      connected = true;
      socket.write(encodeCommand(command));
    });
    const timer = setTimeout(() => {
      resolve({ why: `no answer within ${Math.round(timeoutMs / 1000)} s` });
      socket.destroy();
    }, timeoutMs);
    socket.setEncoding("utf8");
    socket.on("data", (piece: string) => {
      text += piece;
      if (text.length <= MAX_ANSWER_BYTES) return;
      resolve({ why: "its answer has no end" });
      socket.destroy();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(
        connected ? (parseAnswer(text) ?? { why: text === "" ? "it closed the connection" : "its answer cannot be read" }) : "nobody",
      );
    });
  });
}
