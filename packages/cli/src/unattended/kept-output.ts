import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { type EndRecord, LineSplitter } from "@paperclip-k8s/engine";
import type { AgentCli, CliParser, CliReport } from "@paperclip-k8s/paperclip/agent-cli/agent-cli";
import { type Entry, foreignLine } from "@paperclip-k8s/paperclip/agent-cli/entry";

/** What one attempt's output says, read by the CLI's own parser. */
export interface ReadOutput {
  readonly report: CliReport;
  /** These are the very bytes whose hash stands in the runner's end record. */
  readonly genuine: boolean;
}

/** Longer ones are not worth the time: their cost stays unknown. */
const MAX_BYTES = 1024 * 1024 * 1024;
const CHUNK = 1024 * 1024;

/** Null = there is no such plain file. */
export async function readOutput(path: string, cli: Pick<AgentCli, "createParser">, end: EndRecord | null): Promise<ReadOutput | null> {
  const parser = cli.createParser();
  const read = await eachLine(path, (line) => void parsed(parser, line));
  if (read === null) return null;
  const genuine = end !== null && read.bytes === end.written && read.sha256 === end.outputSha256;
  return { report: parser.report(), genuine };
}

/** An agent can write anything: a line that the parser fails at costs no more than itself. */
export function parsed(parser: CliParser, line: string): readonly Entry[] {
  try {
    return parser.push(line);
  } catch {
    return foreignLine(line);
  }
}

/** Null = there is no such plain file. The folder is the pod's: a link or a pipe in its place is not followed or waited for. */
export async function eachLine(path: string, push: (line: string) => void): Promise<{ bytes: number; sha256: string } | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null);
  if (file === null) return null;
  try {
    const stats = await file.stat();
    return stats.isFile() && stats.size <= MAX_BYTES ? await readLines(file, push) : null;
  } finally {
    await file.close();
  }
}

async function readLines(file: FileHandle, push: (line: string) => void): Promise<{ bytes: number; sha256: string }> {
  const lines = new LineSplitter();
  const hash = createHash("sha256");
  const take = (line: ReturnType<LineSplitter["rest"]>) => {
    if (line?.part === "whole") push(line.bytes.toString("utf8").replace(/\r?\n$/, ""));
  };
  let read = 0;
  for (const chunk = Buffer.alloc(CHUNK); ; ) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK);
    if (bytesRead === 0) break;
    const bytes = Buffer.from(chunk.subarray(0, bytesRead));
    read += bytesRead;
    hash.update(bytes);
    for (const line of lines.push(bytes)) take(line);
  }
  take(lines.rest());
  return { bytes: read, sha256: hash.digest("hex") };
}
