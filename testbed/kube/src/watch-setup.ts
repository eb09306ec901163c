import { openCluster } from "./index.ts";
import { watchNode } from "./watch-node.ts";

/** For Vitest's `globalSetup`: watches the cluster while a layer runs, prints each repair at once and again at the end, and ends the layer when a repair does not help. */
export default function setup(): () => Promise<void> {
  const cluster = openCluster();
  const watch = watchNode(cluster, {
    report: (text) => console.log(`\nThe cluster is repaired: ${text}\n`),
    giveUp: ({ message }) => {
      console.error(`\nThe cluster cannot be repaired, and no test can go on: ${message}\n`);
      process.kill(process.pid, "SIGINT");
    },
  });
  return async () => {
    const repaired = await watch.stop();
    cluster.close();
    if (repaired.length > 0) console.log(["Defects of the cluster, to be found:", ...repaired].join("\n  "));
  };
}
