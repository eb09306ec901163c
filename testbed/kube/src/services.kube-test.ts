import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openCluster } from "./index.ts";
import { type Scratch, scratch } from "./scratch.ts";
import { until } from "./wait.ts";

const cluster = openCluster();
let place: Scratch;
beforeAll(async () => {
  place = await scratch(cluster.admin);
});
afterAll(async () => {
  await place.remove();
  cluster.close();
});

/** What an in-cluster client does: environment, mounted token, mounted authority. */
const ASK = `
const { readFileSync } = require("node:fs"), { request } = require("node:https");
const own = "/var/run/secrets/kubernetes.io/serviceaccount/";
const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
const headers = { authorization: "Bearer " + readFileSync(own + "token") };
request({ host, port, path: process.argv[1], ca: readFileSync(own + "ca.crt"), headers }, (answer) => {
  process.stdout.write(host + " " + answer.statusCode + " ");
  answer.pipe(process.stdout);
}).end();`;

const ask = (path: string) => ({ containers: [{ name: "ask", image: cluster.images.agent, command: ["node", "-e", ASK, path] }] });

test("a pod reaches the API server the ordinary way, with its service account's permissions", async () => {
  const { namespace } = place;
  const version = await place.run("version", ask("/version"));
  expect(version.log).toContain('10.96.0.1 200 {\n  "major": "1"');

  const pods = `/api/v1/namespaces/${namespace}/pods`;
  expect((await place.run("denied", ask(pods))).log).toContain("10.96.0.1 403");
  const refusal = readFileSync(cluster.auditLog, "utf8")
    .split("\n")
    .find((line) => line.includes(`"username":"system:serviceaccount:${namespace}:default"`) && line.includes('"code":403'));
  expect(JSON.parse(refusal!)).toMatchObject({ verb: "list", objectRef: { resource: "pods", namespace }, level: "Metadata" });
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  await place.create(`${rbac}/roles`, { metadata: { name: "read" }, rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }] });
  const subjects = [{ kind: "ServiceAccount", name: "default", namespace }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "read" };
  await place.create(`${rbac}/rolebindings`, { metadata: { name: "read" }, roleRef, subjects });
  expect((await place.run("allowed", ask(pods))).log).toContain('10.96.0.1 200 {"kind":"PodList"');
});

test("a service's address leads to the pod behind it, from another pod and from that pod itself", async () => {
  const spec = { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] };
  const service = await place.create<{ spec: { clusterIP: string } }>("services", { metadata: { name: "web" }, spec });
  const fetch = `until timeout 2 wget -qO- http://${service.spec.clusterIP}; do sleep 0.2; done`;
  const shell = (name: string, script: string) => ({ name, image: cluster.images.shell, command: ["sh", "-c", script] });
  const web = shell("web", `echo here > /tmp/index.html; httpd -p 8080 -h /tmp; ${fetch}; sleep 3600`);
  await place.create("pods", {
    metadata: { name: "web", labels: { app: "web" } },
    spec: { containers: [web], terminationGracePeriodSeconds: 0 },
  });

  const answer = await place.run("client", { containers: [shell("client", fetch)] });
  expect(answer.log.trim().split("\n").at(-1)).toBe("here");
  const ownLog = () => cluster.admin.request<string>("GET", `/api/v1/namespaces/${place.namespace}/pods/web/log`);
  await until("the pod to reach itself", 20, async () => (await ownLog()).includes("here"));
});

test("the machine is reached at its address on the pod network, and the network beyond it is not", async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.socket.remoteAddress);
    response.end("machine\n");
  });
  await new Promise<void>((resolve) => server.listen(0, cluster.hostAddress, resolve));
  try {
    const { port } = server.address() as { port: number };
    const script = `wget -qO- http://${cluster.hostAddress}:${port}; timeout 5 wget -qO- http://192.0.2.1 2>&1`;
    const { log, pod } = await place.run("machine", {
      containers: [{ name: "c", image: cluster.images.shell, command: ["sh", "-c", script] }],
    });
    expect(log).toMatch(/^machine\nwget: .*unreachable/);
    expect(seen).toEqual([pod.status.podIP]);
  } finally {
    server.close();
  }
});
