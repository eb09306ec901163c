import { createServer, type Server } from "node:net";

/** One `up` or `down` at a time per folder. The name is gone when the process is, however it ends. */
export async function lock(dir: string): Promise<Server> {
  const server = createServer();
  return await new Promise((resolve, reject) => {
    server.once("error", () => reject(new Error(`another kube:up or kube:down is at work on ${dir}`)));
    server.listen(`\0paperclip-kube:${dir}`, () => resolve(server.unref()));
  });
}
