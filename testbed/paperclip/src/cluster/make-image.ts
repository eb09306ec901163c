// Makes the images of docs/install.md in the test bed's cluster and prints their names, for a shell to read.
import { openCluster } from "@paperclip-k8s/kube";
import { packAdapters } from "../packages/install.ts";
import { VERSIONS } from "../server/release.ts";
import { loadImages } from "./image.ts";

const cluster = openCluster();
const packed = await packAdapters(console.error);
try {
  const { server, agents } = await loadImages(cluster, VERSIONS[0], packed, console.error);
  console.log(`IMAGE=${server}\nAGENT_IMAGE=${agents}`);
} finally {
  cluster.close();
}
