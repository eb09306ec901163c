// A scripted model for agents in the test bed's cluster, until Ctrl-C. Prints the environment by which they find it.
import { openCluster } from "@paperclip-k8s/kube";
import { startLlm } from "@paperclip-k8s/llm";
import { providersFor } from "../agent-kinds.ts";

const cluster = openCluster();
const llm = await startLlm({ host: cluster.hostAddress });
cluster.close();
const env = Object.entries(providersFor(llm));
console.log(env.map(([name, value]) => `${name}=${value}`).join("\n"));
