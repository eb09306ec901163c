// From the server's pod in the cluster to what a run's process really sees.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createEngine, type RunRequest } from "@paperclip-k8s/engine";
import { type Pocket, startPocket } from "@paperclip-k8s/pocket";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect } from "../../../../engine/src/kube/connection.ts";
import { findOwnPod } from "../../../../engine/src/kube/own-pod/own-pod.ts";
import { exampleRequest } from "../../../../engine/src/manifest/testing/example-request.ts";
import { inheritFrom } from "./inherit-from.ts";
import type { Inherited, InheritSettings } from "./inherited.ts";
import { exampleSettings, exampleVariables } from "./testing/example-pod.ts";

let pocket: Pocket;
let data: string;

beforeEach(async () => {
  data = realpathSync(mkdtempSync(join(tmpdir(), "inherited-")));
  pocket = await startPocket({ images: { "agent:1": { path: [dirname(process.execPath), "/usr/bin", "/bin"] } } });
  pocket.createNamespace("servers");
  pocket.createClaim("servers", "data", data);
});
afterEach(async () => {
  (await connect({ kubeconfig: pocket.kubeconfig })).close();
  await pocket.stop();
  rmSync(data, { recursive: true, force: true });
});

async function create(resource: string, object: object): Promise<void> {
  const connection = await connect({ kubeconfig: pocket.kubeconfig });
  await connection.request({ method: "POST", path: `/api/v1/namespaces/servers/${resource}`, body: { apiVersion: "v1", ...object } });
}

const secret = (name: string, stringData: Record<string, string>) => create("secrets", { kind: "Secret", metadata: { name }, stringData });

/** Its image does not exist here: the pod is never started, and nobody minds. */
const serverPod = () => ({
  kind: "Pod",
  metadata: { name: "server-0" },
  spec: {
    volumes: [
      { name: "data", persistentVolumeClaim: { claimName: "data" } },
      { name: "certs", secret: { secretName: "certs", defaultMode: 0o444 } },
    ],
    containers: [
      { name: "proxy", image: "proxy:1" },
      {
        name: "paperclip",
        image: "server:1",
        env: [
          { name: "OPENAI_BASE_URL", value: "https://llm.test/$$1" },
          { name: "OPENAI_API_KEY", valueFrom: { secretKeyRef: { name: "one", key: "openai" } } },
          { name: "DATABASE_URL", value: "postgres://spelled" },
        ],
        envFrom: [{ secretRef: { name: "whole" } }],
        volumeMounts: [
          { name: "data", mountPath: data },
          { name: "certs", mountPath: "/etc/ssl/a.pem", subPath: "a.pem" },
          { name: "certs", mountPath: "/etc/ssl/b.pem", subPath: "b.pem" },
        ],
      },
    ],
  },
});

function requestFrom(inherited: Inherited, own: Record<string, string>): RunRequest {
  const { env, claim } = inherited;
  const example = exampleRequest();
  const seen = `JSON.stringify({ env: process.env, files: ["A", "B"].map((name) => require("fs").readFileSync(process.env[name], "utf8")) })`;
  return exampleRequest({
    namespace: inherited.namespace,
    container: { ...example.container, image: inherited.image, workingDir: claim.mountPath },
    argv: ["node", "-e", `console.log(${seen})`],
    env: {
      // The embedded cluster points paths in the Job to where its folders are.
      plain: { HOME: "/agent/home", A: "/etc/ssl/a.pem", B: "/etc/ssl/b.pem" },
      secret: { ...env.literals, ...own },
      references: env.references,
      from: env.from,
      hidden: env.hidden,
    },
    volumes: {
      ...example.volumes,
      shared: { claimName: claim.name, mountPath: claim.mountPath, subPath: claim.subPath },
      secrets: inherited.secretVolumes,
      configMaps: inherited.configMapVolumes,
    },
    output: { root: claim.mountPath, path: join(claim.mountPath, "out/run.ndjson") },
  });
}

async function runWith(settings: Partial<InheritSettings>, own: Record<string, string> = { GROQ_API_KEY: "the agent's own" }) {
  await secret("certs", { "a.pem": "cert a", "b.pem": "cert b" });
  await secret("one", { openai: "key of one" });
  const whole = { MODEL_API_KEY: "key of whole", GROQ_API_KEY: "of whole", DATABASE_URL: "postgres://whole", BETTER_AUTH_SECRET: "s" };
  await secret("whole", whole);
  await create("pods", serverPod());
  const env = { POD_NAME: "server-0", POD_NAMESPACE: "servers" };
  const { pod } = await findOwnPod({ kubeconfig: pocket.kubeconfig }, { env, containers: ["paperclip"] });
  const serverEnv = {
    ...whole,
    ...env,
    OPENAI_BASE_URL: "https://llm.test/$1",
    DATABASE_URL: "postgres://spelled",
    OPENAI_API_KEY: "key of one",
  };
  const inherited = inheritFrom(pod, exampleSettings({ image: "agent:1", dataPath: join(data, "paperclip"), ...settings }), {
    env: serverEnv,
    variables: exampleVariables,
  });
  const output: Buffer[] = [];
  const outcome = await createEngine().run(
    requestFrom(inherited, own),
    { kubeconfig: pocket.kubeconfig },
    {
      signal: new AbortController().signal,
      onOutput: async (bytes) => void output.push(Buffer.from(bytes)),
      onStderr: async () => {},
      onStatus: () => {},
    },
  );
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  return JSON.parse(Buffer.concat(output).toString()) as { env: Record<string, string>; files: string[] };
}

test("listed: the listed values, one Secret's two files, and no trace of the rest", async () => {
  const seen = await runWith({});
  expect(seen.files).toEqual(["cert a", "cert b"]);
  expect(seen.env).toMatchObject({
    OPENAI_BASE_URL: "https://llm.test/$1",
    OPENAI_API_KEY: "key of one",
    MODEL_API_KEY: "key of whole",
    GROQ_API_KEY: "the agent's own",
  });
  expect(Object.keys(seen.env)).not.toContain("DATABASE_URL");
  expect(Object.keys(seen.env)).not.toContain("BETTER_AUTH_SECRET");
});

test("all: a whole Secret, with the server's own values in it set empty", async () => {
  const seen = await runWith({ inherit: "all" });
  expect(seen.files).toEqual(["cert a", "cert b"]);
  expect(seen.env).toMatchObject({
    OPENAI_API_KEY: "key of one",
    MODEL_API_KEY: "key of whole",
    GROQ_API_KEY: "the agent's own",
    DATABASE_URL: "",
    BETTER_AUTH_SECRET: "",
  });
  const requests = pocket.requests.filter(({ verb, resource }) => verb === "get" && resource === "pods");
  expect(requests).toHaveLength(1);
});

test("a blank value of the agent's hides one of a whole Secret", async () => {
  const seen = await runWith({ inherit: "all" }, { MODEL_API_KEY: "" });
  expect(seen.env).toMatchObject({ MODEL_API_KEY: "", GROQ_API_KEY: "of whole" });
});
