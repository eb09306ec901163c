import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Pocket, startPocket } from "./index.ts";
import type { Container } from "./pod.ts";
import { call, createJob, endedJob, images, mergePatch, podOf, runningPod, secrets, until } from "./test-client.ts";

// What a container finds when it runs: environment, files, paths.

let cluster: Pocket;
const ns = "starts";

beforeAll(async () => {
  cluster = await startPocket({ images, timings: { secretRefresh: 800, secretRefreshOnPodChange: 50 } });
  cluster.createNamespace(ns);
});
afterAll(() => cluster.stop());

const podName = (job: string) => podOf(cluster, ns, job)!.metadata.name;
const logOf = (job: string) => cluster.podLog(ns, podName(job));
const createSecret = (name: string, stringData: object) => call(cluster, "POST", secrets(ns), { metadata: { name }, stringData });
const mounted = (secretName: string, extra = {}) => ({
  pod: { volumes: [{ name: "s", secret: { secretName, ...extra } }] },
  container: { volumeMounts: [{ name: "s", mountPath: "/in" }] },
});

describe.concurrent("what a container finds", () => {
  test("env as Kubernetes expands it, and the downward API", async () => {
    await createSecret("env", { TOKEN: "se$(A)cret" });
    const env: Container["env"] = [
      { name: "A", value: "1" },
      { name: "B", value: "$(A)-$$(A)-$(NONE)-$$$(A)-$A" },
      { name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "WHERE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
      { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
    ];
    const container = { env, envFrom: [{ prefix: "S_", secretRef: { name: "env" } }], args: ["x", "$(A) $$(A) $(NONE)"] };
    await createJob(cluster, ns, "env", 'printf "%s\\n" "$B" "$S_TOKEN" "$1" "$POD $HOSTNAME" "$WHERE $NODE"', { container });
    await endedJob(cluster, ns, "env");
    expect(logOf("env").split("\n")).toEqual([
      "1-$(A)-$(NONE)-$1-$A",
      "se$(A)cret",
      "1 $(A) $(NONE)",
      `${podName("env")} ${podName("env")}`,
      "starts pocket",
      "",
    ]);
  });

  test("Secret files: items, modes, and paths rewritten longest first", async () => {
    await createSecret("files", { one: "1", two: "2" });
    const items = [
      { key: "one", path: "deep/first", mode: 0o400 },
      { key: "two", path: "second" },
    ];
    await createJob(
      cluster,
      ns,
      "files",
      'for f in "$1" "$2"; do ls -lL "$f" | cut -c1-10; done; cat "$1" "$2"; ls "$DIR"; pwd | sed "s#.*/##"; echo $#',
      {
        pod: {
          volumes: [
            { name: "s", secret: { secretName: "files", items, defaultMode: 0o444 } },
            { name: "e", emptyDir: {} },
          ],
        },
        container: {
          volumeMounts: [
            { name: "e", mountPath: "/run" },
            { name: "s", mountPath: "/run/in" },
          ],
          args: ["x", "/run/in/deep/first", "/run/in/second", "/run-not"],
          env: [{ name: "DIR", value: "/run/in" }],
          workingDir: "/run/work",
        },
      },
    );
    await endedJob(cluster, ns, "files");
    expect(logOf("files")).toBe("-r--------\n-r--r--r--\n12deep\nsecond\nwork\n3\n");
  });

  test("a claim whose folder is its mount path is not rewritten", async () => {
    const dir = join(cluster.dir, "same-path");
    cluster.createClaim(ns, "same-path", dir);
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "in"), "as is");
    await createJob(cluster, ns, "same-path", `cat ${dir}/in`, {
      pod: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "same-path" } }] },
      container: { volumeMounts: [{ name: "v", mountPath: dir }] },
    });
    await endedJob(cluster, ns, "same-path");
    expect(logOf("same-path")).toBe("as is");
  });

  test("an updated Secret reaches the files late, or soon after the pod changes", async () => {
    await createSecret("turns", { key: "old" });
    const options = { ...mounted("turns"), container: { ...mounted("turns").container, args: ["x", "/in/key"] } };
    await createJob(cluster, ns, "turns", 'while :; do cat "$1"; echo; sleep 0.02; done', options);
    const pod = await runningPod(cluster, ns, "turns");
    const seen = (text: string) => until(() => logOf("turns").includes(text), text);
    await call(cluster, "PATCH", `${secrets(ns)}/turns`, { stringData: { key: "second" } }, mergePatch);
    const changed = Date.now();
    await seen("second");
    expect(Date.now() - changed).toBeGreaterThan(700);
    await call(cluster, "PATCH", `${secrets(ns)}/turns`, { stringData: { key: "third" } }, mergePatch);
    const poked = Date.now();
    await call(cluster, "PATCH", `/api/v1/namespaces/${ns}/pods/${pod.metadata.name}`, { metadata: { labels: { poke: "1" } } }, mergePatch);
    await seen("third");
    expect(Date.now() - poked).toBeLessThan(700);
    expect(new Set(logOf("turns").trim().split("\n"))).toEqual(new Set(["old", "second", "third"]));
  });

  test("optional Secrets may be missing", async () => {
    await createJob(cluster, ns, "optional", 'ls "$1" | wc -l', {
      ...mounted("absent", { optional: true }),
      container: {
        ...mounted("absent").container,
        args: ["x", "/in"],
        env: [{ name: "K", valueFrom: { secretKeyRef: { name: "absent", key: "k", optional: true } } }],
      },
    });
    await endedJob(cluster, ns, "optional");
    expect(logOf("optional").trim()).toBe("0");
  });
});
