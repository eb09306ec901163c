import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { type EndRecord, LineSplitter } from "@paperclip-k8s/engine";
import type { AgentCli, CliParser, CliReport } from "@paperclip-k8s/paperclip/agent-cli/agent-cli";
import { type Entry, foreignLine } from "@paperclip-k8s/paperclip/agent-cli/entry";

/** What one attempt's output says, read by the CLI's own parser. */
interface ReadOutput {
  readonly report: CliReport;
  /** These are the very bytes whose hash stands in the runner's end record. */
  readonly genuine: boolean;
}

/** What is beyond is not worth the time: the cost of such a run stays unknown. */
const MAX_BYTES = 1024 * 1024 * 1024;
const CHUNK = 1024 * 1024;

/** Null = there is no such plain file, or it is too long to be proved genuine. */
export async function readOutput(path: string, cli: Pick<AgentCli, "createParser">, end: EndRecord | null): Promise<ReadOutput | null> {
  if (end !== null && end.written > MAX_BYTES) return null;
  const parser = cli.createParser();
  const read = await eachLine(path, (line) => void parsed(parser, line));
  if (read === null) return null;
  const genuine = end !== null && !read.isCut && read.bytes === end.written && read.sha256 === end.outputSha256;
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

interface ReadLines {
  readonly bytes: number;
  readonly sha256: string;
  /** There is more, which was not read. */
  readonly isCut: boolean;
}

/** Null = there is no such plain file. The folder is the pod's: a link or a pipe in its place is not followed or waited for. */
export async function eachLine(path: string, push: (line: string) => void, most = MAX_BYTES): Promise<ReadLines | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null);
  if (file === null) return null;
  try {
    return (await file.stat()).isFile() ? await readLines(file, push, most) : null;
  } finally {
    await file.close();
  }
}

/** The bound counts while it reads, since the run may go on writing. */
async function readLines(file: FileHandle, push: (line: string) => void, most: number): Promise<ReadLines> {
  const lines = new LineSplitter();
  const hash = createHash("sha256");
  const take = (line: ReturnType<LineSplitter["rest"]>) => {
    if (line?.part === "whole") push(line.bytes.toString("utf8").replace(/\r?\n$/, ""));
  };
  let read = 0;
  for (const chunk = Buffer.alloc(CHUNK); ; ) {
    // One byte more than is taken shows that there is more.
    const { bytesRead } = await file.read(chunk, 0, Math.min(CHUNK, most - read + 1));
    const taken = Math.min(bytesRead, most - read);
    const bytes = Buffer.from(chunk.subarray(0, taken));
    read += taken;
    hash.update(bytes);
    for (const line of lines.push(bytes)) take(line);
    if (taken < bytesRead) return { bytes: read, sha256: hash.digest("hex"), isCut: true };
    if (bytesRead === 0) break;
  }
  take(lines.rest());
  return { bytes: read, sha256: hash.digest("hex"), isCut: false };
}
