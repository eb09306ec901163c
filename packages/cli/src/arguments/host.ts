import { type Given, text, UsageError } from "./values.ts";

/** Where the Paperclip server is, and who asks. */
export interface HostArguments {
  readonly url: string;
  readonly token: string | null;
  readonly company: string | null;
}

/** A key on the command line would stand in every process list: it comes from the environment. */
export function hostArguments(given: Given, env: NodeJS.ProcessEnv): HostArguments {
  const local = env.PAPERCLIP_LISTEN_PORT ? `http://127.0.0.1:${env.PAPERCLIP_LISTEN_PORT}` : null;
  const url = text(given.url) ?? env.PAPERCLIP_API_URL ?? local ?? "http://127.0.0.1:3100";
  if (!URL.canParse(url) || !/^https?:/.test(url)) throw new UsageError(`--url: "${url}" is not an http address`);
  return { url, token: env.PAPERCLIP_API_KEY || null, company: text(given.company) };
}
