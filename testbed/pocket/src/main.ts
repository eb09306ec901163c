import { startPocket } from "./index.ts";

// `node testbed/pocket/src/main.ts [image=dir:dir ...]`: a cluster to try things on, until it is interrupted.
const images = Object.fromEntries(
  process.argv.slice(2).map((argument) => {
    const [image, path = ""] = argument.split("=");
    return [image!, { path: path.split(":") }];
  }),
);
const cluster = await startPocket({ images: { "agent:1": { path: (process.env.PATH ?? "").split(":") }, ...images } });
console.log(`KUBECONFIG=${cluster.kubeconfig}`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void cluster.stop());
