import { copyFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createEngine } from "@paperclip-k8s/engine";
import { type AgentCli, createAdapter } from "@paperclip-k8s/paperclip";
import { hostContext } from "@paperclip-k8s/paperclip/testing";
import { exampleCli } from "@paperclip-k8s/paperclip/testing/example-cli";
import { silentReport } from "@paperclip-k8s/paperclip/testing/silent-report";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { connect } from "../../../packages/engine/src/kube/connection.ts";
import { type Bed, onKube, startBed } from "./bed.ts";
import { calm } from "./calm.ts";

// A server in its pod whose agent runs in a namespace of its own, with claim, Secrets and pull secrets of the same names there.
// Embedded cluster only: a real one would need a second claim on the same files.

const TEAM = "team";

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
  if (bed.pocket === null) return;
  bed.pocket.createNamespace(TEAM, { "pod-security.kubernetes.io/enforce": "restricted" });
  bed.pocket.createClaim(TEAM, "data", bed.data);
  await create(bed.namespace, "pods", SERVER_POD());
  // The server's own values differ from the team's: so it shows whose were used.
  for (const namespace of [bed.namespace, TEAM]) {
    await create(namespace, "secrets", secret("keys", { key: `key of ${namespace}` }));
    await create(namespace, "secrets", secret("login", { key: `login of ${namespace}` }));
    await create(namespace, "secrets", secret("registry", {}));
  }
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

async function create(namespace: string, resource: string, object: object): Promise<void> {
  const connection = await connect({ kubeconfig: bed.pocket!.kubeconfig });
  await connection.request({ method: "POST", path: `/api/v1/namespaces/${namespace}/${resource}`, body: { apiVersion: "v1", ...object } });
}

const remove = async (resource: string, name: string): Promise<void> => {
  const connection = await connect({ kubeconfig: bed.pocket!.kubeconfig });
  await connection.request({ method: "DELETE", path: `/api/v1/namespaces/${TEAM}/${resource}/${name}` });
};

const secret = (name: string, stringData: Record<string, string>) => ({ kind: "Secret", metadata: { name }, stringData });

/** Its image does not exist here: the pod is never started. */
const SERVER_POD = () => ({
  kind: "Pod",
  metadata: { name: "server-0" },
  spec: {
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
    imagePullSecrets: [{ name: "registry" }],
    volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
    containers: [
      {
        name: "paperclip",
        image: "server:1",
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        env: [
          { name: "OPENAI_API_KEY", valueFrom: { secretKeyRef: { name: "keys", key: "key" } } },
          { name: "GROQ_API_KEY", valueFrom: { secretKeyRef: { name: "login", key: "key" } } },
          { name: "MISTRAL_API_KEY", valueFrom: { secretKeyRef: { name: "nowhere", key: "key", optional: true } } },
        ],
        volumeMounts: [{ name: "data", mountPath: bed.data }],
      },
    ],
  },
});

interface Seen {
  readonly openai?: string;
  readonly groq?: string;
}

const TELL = `const { OPENAI_API_KEY: openai, GROQ_API_KEY: groq } = process.env; console.log(JSON.stringify({ openai, groq }))`;

function tellingCli(found: (seen: Seen) => void): AgentCli {
  return {
    ...exampleCli,
    state: undefined,
    plan: () => ({ argv: ["node", "-e", TELL], plainEnv: {}, secretEnv: {}, notes: [] }),
    createParser: () => ({
      push(text) {
        found(JSON.parse(text));
        return [{ kind: "other", text }];
      },
      report: () => ({ ...silentReport, text: "done", outputTokens: 1, finished: true, events: 1 }),
      fault: () => null,
    }),
  };
}

let runs = 0;

/** One run of a server that has just started, so that no answer of an earlier test is known; `sameNames`: where they are meant. */
async function start(sameNames = `["${TEAM}"]`): Promise<() => ReturnType<typeof run>> {
  const file = (name: string) => join(dirname(bed.data), `${name}-${++runs}`);
  const [kubeconfig, policy] = [file("kubeconfig"), file("policy")];
  await copyFile(bed.pocket!.kubeconfig, kubeconfig);
  await writeFile(policy, `allow: { kubeconfigs: ["/**"], namespaces: ["te*"], sameNames: ${sameNames} }`);
  return () => run(kubeconfig, policy);
}

async function run(kubeconfig: string, policy: string) {
  let seen: Seen | null = null;
  const cli = tellingCli((found) => {
    seen = found;
  });
  const serverEnv = {
    PAPERCLIP_K8S_POLICY: policy,
    PAPERCLIP_HOME: bed.data,
    POD_NAME: "server-0",
    POD_NAMESPACE: bed.namespace,
    OPENAI_API_KEY: `key of ${bed.namespace}`,
  };
  const { ctx, meta, log } = hostContext({ config: { kubeconfig, namespace: TEAM, image: bed.images.agent } });
  const { errorMessage, exitCode } = await createAdapter(cli, { engine: createEngine(), serverEnv }).execute(ctx);
  return { exitCode, errorMessage, seen: seen as Seen | null, notes: notesOf(meta[0]), log: log() };
}

const notesOf = (meta: unknown): string => (meta as { commandNotes?: string[] } | undefined)?.commandNotes?.join("\n") ?? "";

/** Of what is there: what is missing is looked for again after seconds. */
const lookUps = () =>
  bed.requests.filter(
    ({ verb, resource, namespace, name }) =>
      verb === "get" && namespace === TEAM && name !== "nowhere" && ["secrets", "persistentvolumeclaims"].includes(resource),
  ).length;

test.skipIf(onKube)("it works with what has the same name there, and the runs after the first ask for nothing more", async () => {
  const again = await start();
  const first = await again();
  expect(first).toMatchObject({ exitCode: 0, seen: { openai: `key of ${TEAM}`, groq: `login of ${TEAM}` } });
  expect(first.notes).toContain("of the same name in namespace team: Secret keys, Secret login, Secret registry, claim data");
  const asked = lookUps();
  expect(asked).toBe(4);
  expect(await again()).toMatchObject({ exitCode: 0 });
  expect(lookUps()).toBe(asked);
});

test.skipIf(onKube)("an account that may look at nothing: taken by name, with a note", async () => {
  const denied = ["secrets", "persistentvolumeclaims"].map((resource) =>
    bed.pocket!.faults.deny({ verb: "get", resource, namespace: TEAM }),
  );
  const ran = await (await start())();
  for (const fault of denied) fault.undo();
  // A value that the server itself has is copied.
  expect(ran).toMatchObject({ exitCode: 0, seen: { openai: `key of ${bed.namespace}`, groq: `login of ${TEAM}` } });
  expect(ran.notes).toMatch(
    /taken by name in namespace team, without a look.*not allowed to get secrets.*: Secret login, Secret nowhere, Secret registry/,
  );
  expect(ran.notes).toMatch(/taken by name in namespace team, without a look.*not allowed to get persistentvolumeclaims.*: claim data/);
});

test.skipIf(onKube)("what is missing is named: a variable is left out, and without a claim there is no run", async () => {
  await remove("secrets", "login");
  const ran = await (await start())();
  expect(ran).toMatchObject({ exitCode: 0, seen: { openai: `key of ${TEAM}` } });
  expect(ran.seen?.groq).toBeUndefined();
  expect(ran.log).toMatch(/has no Secret or ConfigMap of that name; make it there.*: GROQ_API_KEY \(Secret login\)/);
  await remove("persistentvolumeclaims", "data");
  const refused = await (await start())();
  expect(refused.errorMessage).toContain("namespace team has no claim data. Make one there");
});

test.skipIf(onKube)("a namespace that only a pattern allows has nothing of the server's", async () => {
  const refused = await (await start("[]"))();
  expect(refused.errorMessage).toContain('list "team" in allow.sameNames of the operator\'s policy');
});
