import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./run.ts";
import { API_PORT, SERVICE_ADDRESS, type Settings } from "./settings.ts";

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
const DAYS = ["-days", "365"];

/** One authority; certificates for the API server and for everyone who talks to it; the key pair of service account tokens. */
export async function makeCertificates(settings: Settings): Promise<void> {
  const pki = join(settings.dir, "pki");
  await mkdir(pki, { recursive: true, mode: 0o700 });
  const openssl = (...args: string[]) => run("openssl", args, { cwd: pki });
  await openssl("req", "-x509", ...NEW_KEY, "-keyout", "ca.key", "-out", "ca.crt", ...DAYS, "-subj", "/CN=kube-ca");
  const certify = async (name: string, subject: string, extension: string) => {
    await writeFile(join(pki, `${name}.ext`), extension);
    await openssl("req", ...NEW_KEY, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", subject);
    const signed = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAserial", `${name}.srl`, "-CAcreateserial"];
    await openssl("x509", "-req", "-in", `${name}.csr`, ...signed, ...DAYS, "-out", `${name}.crt`, "-extfile", `${name}.ext`);
  };
  await Promise.all([
    certify("server", "/CN=kube-apiserver", `subjectAltName=${serverNames(settings).join(",")}`),
    ...Object.entries(users(settings)).map(([name, subject]) => certify(name, subject, "extendedKeyUsage=clientAuth")),
    openssl("genrsa", "-out", "sa.key", "2048").then(() => openssl("rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub")),
  ]);
  for (const user of Object.keys(users(settings))) await writeFile(join(pki, `${user}.kubeconfig`), await kubeconfig(settings, pki, user));
}

/** Each program as itself, with the permissions Kubernetes has for it. */
function users({ nodeName }: Settings): Readonly<Record<string, string>> {
  return {
    admin: "/O=system:masters/CN=admin",
    kubelet: `/O=system:nodes/CN=system:node:${nodeName}`,
    "kube-controller-manager": "/CN=system:kube-controller-manager",
    "kube-scheduler": "/CN=system:kube-scheduler",
    "kube-proxy": "/CN=system:kube-proxy",
  };
}

function serverNames(settings: Settings): string[] {
  const names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"];
  return [`IP:${settings.nodeAddress}`, `IP:${SERVICE_ADDRESS}`, ...names.map((name) => `DNS:${name}`)];
}

async function kubeconfig(settings: Settings, pki: string, user: string): Promise<string> {
  const encoded = async (file: string) => (await readFile(join(pki, file))).toString("base64");
  const server = { server: `https://${settings.nodeAddress}:${API_PORT}`, "certificate-authority-data": await encoded("ca.crt") };
  const identity = { "client-certificate-data": await encoded(`${user}.crt`), "client-key-data": await encoded(`${user}.key`) };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "kube", cluster: server }],
    users: [{ name: user, user: identity }],
    contexts: [{ name: "kube", context: { cluster: "kube", user } }],
    "current-context": "kube",
  });
}
