// Makes the server's image of docs/install.md in the test bed's cluster and prints its name.
import { openCluster } from "@paperclip-k8s/kube";
import { packAdapters } from "../packages/install.ts";
import { VERSIONS } from "../server/release.ts";
import { loadImage } from "./image.ts";

const cluster = openCluster();
const packed = await packAdapters(console.error);
try {
  console.log(await loadImage(cluster, VERSIONS[0], packed, console.error));
} finally {
  cluster.close();
}
