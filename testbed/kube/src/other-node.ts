import { type Admin, ApiFailure } from "./admin.ts";

/** A second node that is only an object, kept Ready: the controller evicts from a lost node only while another one lives. */
export interface OtherNode {
  readonly name: string;
  remove(): Promise<void>;
}

const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const RENEW_MS = 2000;

export async function otherNode(admin: Admin, name = "other"): Promise<OtherNode> {
  await removeNode(admin, name);
  await admin.request("POST", "/api/v1/nodes", { metadata: { name }, spec: { unschedulable: true } });
  const spec = () => ({ holderIdentity: name, leaseDurationSeconds: 8, renewTime: micro(new Date()) });
  await admin.request("POST", LEASES, { metadata: { name }, spec: spec() });
  await admin.request("PATCH", `/api/v1/nodes/${name}/status`, { status: { conditions: [ready()] } });
  const timer = setInterval(() => {
    admin.request("PATCH", `${LEASES}/${name}`, { spec: spec() }).catch(() => {}); // an API server that is down comes back
  }, RENEW_MS);
  timer.unref();
  return {
    name,
    remove: async () => {
      clearInterval(timer);
      await removeNode(admin, name);
    },
  };
}

const micro = (date: Date): string => date.toISOString().replace("Z", "000Z");

function ready() {
  const now = new Date().toISOString();
  return { type: "Ready", status: "True", reason: "StandIn", message: "an object only", lastHeartbeatTime: now, lastTransitionTime: now };
}

async function removeNode(admin: Admin, name: string): Promise<void> {
  for (const path of [`/api/v1/nodes/${name}`, `${LEASES}/${name}`]) {
    await admin.request("DELETE", path).catch((error: unknown) => {
      if (!(error instanceof ApiFailure) || error.status !== 404) throw error;
    });
  }
}
