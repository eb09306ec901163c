import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Pocket, startPocket } from "./index.ts";
import type { Container } from "./pod.ts";
import { call, createJob, endedJob, images, mergePatch, podOf, runningPod, secrets, until } from "./test-client.ts";

// What a container finds when it runs: environment, files, paths.

let cluster: Pocket;
const ns = "starts";
const REFRESH_MS = 400;
/** Later than any test waits for. */
const NEVER_MS = 600_000;

beforeAll(async () => {
  cluster = await startPocket({ images, timings: { secretRefresh: REFRESH_MS, secretRefreshOnPodChange: NEVER_MS } });
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

  /** A pod that reads its Secret again and again. */
  async function reader(at: Pocket) {
    await call(at, "POST", secrets(ns), { metadata: { name: "turns" }, stringData: { key: "old" } });
    const options = { ...mounted("turns"), container: { ...mounted("turns").container, args: ["x", "/in/key"] } };
    await createJob(at, ns, "turns", 'while :; do cat "$1"; echo; sleep 0.02; done', options);
    const { name } = (await runningPod(at, ns, "turns")).metadata;
    const change = (key: string) => call(at, "PATCH", `${secrets(ns)}/turns`, { stringData: { key } }, mergePatch);
    const poke = () => call(at, "PATCH", `/api/v1/namespaces/${ns}/pods/${name}`, { metadata: { labels: { poke: "1" } } }, mergePatch);
    const log = () => at.podLog(ns, name);
    const seen = (text: string) => until(() => log().includes(text), text);
    return { change, poke, seen, lines: () => new Set(log().trim().split("\n")) };
  }

  test("an updated Secret reaches the files late", async () => {
    const { change, seen, lines } = await reader(cluster);
    const asked = performance.now();
    await change("new");
    await seen("new");
    expect(performance.now() - asked).toBeGreaterThan(REFRESH_MS - 50);
    expect(lines()).toEqual(new Set(["old", "new"]));
  });

  test("an updated Secret reaches the files when the pod changes", async () => {
    const slow = await startPocket({ images, timings: { secretRefresh: NEVER_MS, secretRefreshOnPodChange: 50 } });
    slow.createNamespace(ns);
    try {
      const { change, poke, seen, lines } = await reader(slow);
      await change("new");
      await poke();
      await seen("new");
      expect(lines()).toEqual(new Set(["old", "new"]));
    } finally {
      await slow.stop();
    }
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
