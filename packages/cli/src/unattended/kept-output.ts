import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { type EndRecord, LineSplitter } from "@paperclip-k8s/engine";
import type { AgentCli, CliReport } from "@paperclip-k8s/paperclip/agent-cli/agent-cli";

/** What one attempt's output says, read by the CLI's own parser. */
export interface ReadOutput {
  readonly report: CliReport;
  /** These are the very bytes whose hash stands in the runner's end record. */
  readonly genuine: boolean;
}

/** Longer ones are not worth the time: their cost stays unknown. */
const MAX_BYTES = 1024 * 1024 * 1024;
const CHUNK = 1024 * 1024;

/** Null = there is no such plain file. The folder is the pod's: a link or a pipe in its place is not followed or waited for. */
export async function readOutput(path: string, cli: Pick<AgentCli, "createParser">, end: EndRecord): Promise<ReadOutput | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null);
  if (file === null) return null;
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > MAX_BYTES) return null;
    return await parse(file, cli, end);
  } finally {
    await file.close();
  }
}

async function parse(file: FileHandle, cli: Pick<AgentCli, "createParser">, end: EndRecord): Promise<ReadOutput> {
  const parser = cli.createParser();
  const lines = new LineSplitter();
  const hash = createHash("sha256");
  const push = (line: { readonly part: string; readonly bytes: Buffer } | null) => {
    if (line?.part !== "whole") return;
    try {
      parser.push(line.bytes.toString("utf8").replace(/\r?\n$/, ""));
    } catch {
      // An agent can write anything: a line that the parser fails at costs no more than itself.
    }
  };
  let read = 0;
  for (const chunk = Buffer.alloc(CHUNK); ; ) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK);
    if (bytesRead === 0) break;
    const bytes = Buffer.from(chunk.subarray(0, bytesRead));
    read += bytesRead;
    hash.update(bytes);
    for (const line of lines.push(bytes)) push(line);
  }
  push(lines.rest());
  return { report: parser.report(), genuine: read === end.written && hash.digest("hex") === end.outputSha256 };
}
