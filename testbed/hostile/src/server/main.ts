// A server with the adapter as a host loads it, in a process of its own: what an attack throws in it ends it, and the test sees that.
import { createInterface } from "node:readline";
import { adapterEntry } from "@paperclip-k8s/paperclip";
import { hostContext } from "@paperclip-k8s/paperclip/testing";
import { programCli } from "./cli.ts";
import type { Call, Command, News } from "./protocol.ts";

const adapter = adapterEntry(programCli(process.argv[2] ?? "")).createServerAdapter();
const cancels = new Map<string, AbortController>();
const tell = (news: News): void => void process.stdout.write(`${JSON.stringify(news)}\n`);

async function run(call: Call): Promise<void> {
  const { runId, token, ...rest } = call;
  const cancel = new AbortController();
  cancels.set(runId, cancel);
  const { ctx } = hostContext({
    ...rest,
    runId,
    signal: cancel.signal,
    change: {
      authToken: token,
      onLog: async (stream, chunk) => tell({ event: "log", runId, stream, chunk }),
      onMeta: async ({ prompt = "" }) => tell({ event: "prompt", runId, text: prompt }),
    },
  });
  tell({ event: "result", runId, result: await adapter.execute(ctx) });
}

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const command = JSON.parse(line) as Command;
    if (command.do === "run") void run(command.call);
    else cancels.get(command.runId)?.abort(new Error("asked by the test"));
  })
  // The test is gone.
  .on("close", () => process.exit(0));
tell({ event: "ready" });
