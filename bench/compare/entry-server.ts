// A server with the adapter of one entry, loaded as the host loads it; everything else in it is the bench's and the same for every entry.
import { pathToFileURL } from "node:url";
import type { ServerAdapter } from "@paperclip-k8s/paperclip/host";
import type { RunAsk, ServerOptions } from "../protocol.ts";
import { serve } from "../serve.ts";

const { entry } = JSON.parse(process.argv[2] ?? "{}") as ServerOptions;
const { createServerAdapter } = (await import(pathToFileURL(entry ?? "").href)) as { createServerAdapter(): ServerAdapter };

const adapters = new Map<number, ServerAdapter>();

function adapterFor({ instance }: RunAsk): ServerAdapter {
  const adapter = adapters.get(instance) ?? createServerAdapter();
  adapters.set(instance, adapter);
  return adapter;
}

serve({ adapterFor });
