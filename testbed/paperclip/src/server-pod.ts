import type { Pocket } from "@paperclip-k8s/pocket";

const NAME = "paperclip-server";

/** What the server's environment says of its pod. */
export const POD_IDENTITY = (namespace: string): Readonly<Record<string, string>> => ({ POD_NAME: NAME, POD_NAMESPACE: namespace });

interface ServerPodSpec {
  readonly namespace: string;
  readonly image: string;
  readonly claim: string;
  /** Where the claim is mounted. */
  readonly dataPath: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A pod that stands for a server that runs beside the embedded cluster: agents take image, claim and keys from it, as they do in a cluster. */
export async function standForServer(cluster: Pocket, { namespace, image, claim, dataPath, env }: ServerPodSpec): Promise<void> {
  const container = {
    name: "paperclip",
    image,
    command: ["/bin/sleep", "1000000"],
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
    volumeMounts: [{ name: "data", mountPath: dataPath }],
  };
  const answer = await fetch(`${cluster.url}/api/v1/namespaces/${namespace}/pods`, {
    method: "POST",
    headers: { authorization: `Bearer ${cluster.token}`, "content-type": "application/json" },
    body: JSON.stringify({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: NAME },
      spec: {
        terminationGracePeriodSeconds: 0,
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: claim } }],
        containers: [container],
      },
    }),
  });
  if (!answer.ok) throw new Error(`the pod that stands for the server: ${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
}
