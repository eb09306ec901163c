import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openCluster } from "@paperclip-k8s/kube";
import { afterAll, beforeAll, expect, test } from "vitest";

// Only a real API server says whether it takes every field of deploy/, and only kubectl how a kustomization is built.

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const cluster = openCluster();
const server = `deploy-${randomBytes(4).toString("hex")}`;
const agents = `${server}-agents`;
let folder: string;

const kubectl = async (...args: string[]): Promise<string[]> => {
  const { stdout } = await promisify(execFile)(cluster.kubectl, ["--kubeconfig", cluster.kubeconfig, ...args]);
  return stdout.trim().split("\n");
};
/** What the API server would do with it, kind by kind. */
const wouldApply = async (path: string): Promise<string[]> => {
  const lines = await kubectl("apply", "--dry-run=server", "-k", join(folder, path), "-o", "name");
  return lines.map((line) => line.split("/")[0]!.split(".")[0]!).sort();
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "deploy-"));
  await cp(join(ROOT, "deploy"), join(folder, "deploy"), { recursive: true });
  await promisify(execFile)("sh", [join(folder, "deploy/rename.sh"), server, agents]);
  await kubectl("apply", "-f", join(folder, "deploy/namespace.yaml"));
});
afterAll(async () => {
  await kubectl("delete", "--wait=false", "-f", join(folder, "deploy/namespace.yaml"));
  await rm(folder, { recursive: true, force: true });
  cluster.close();
});

const count = (kinds: readonly string[], kind: string): number => kinds.filter((each) => each === kind).length;

test("the API server takes all of deploy/", async () => {
  const kinds = await wouldApply("deploy");
  const expected = {
    namespace: 2,
    persistentvolume: 2,
    persistentvolumeclaim: 2,
    role: 2,
    networkpolicy: 3,
    resourcequota: 1,
    limitrange: 1,
  };
  for (const [kind, wanted] of Object.entries(expected)) expect([kind, count(kinds, kind)]).toEqual([kind, wanted]);
  expect(count(kinds, "validatingadmissionpolicy")).toBe(7);
  expect(count(kinds, "validatingadmissionpolicybinding")).toBe(7);
});

test("and the one namespace of the install guide: no object of a second one is left", async () => {
  const guide = await readFile(join(ROOT, "docs/install.md"), "utf8");
  const [, text = ""] = /^```yaml\n(# one-namespace\/kustomization\.yaml\n[\s\S]*?)^```$/m.exec(guide) ?? [];
  expect(text).toContain("resources:");
  await mkdir(join(folder, "one-namespace"));
  const renamed = text
    .replace("namespace: paperclip\n", `namespace: ${server}\n`)
    .replaceAll('"value": "paperclip"', `"value": "${server}"`);
  await writeFile(join(folder, "one-namespace/kustomization.yaml"), renamed);
  const kinds = await wouldApply("one-namespace");
  for (const kind of ["namespace", "persistentvolume", "persistentvolumeclaim"]) expect([kind, count(kinds, kind)]).toEqual([kind, 1]);
  const built = (await kubectl("kustomize", join(folder, "one-namespace"))).join("\n");
  expect(built).not.toContain(`namespace: ${agents}`);
  expect(built).not.toContain(`metadata.name: ${agents}`);
  expect(built).toContain(`system:serviceaccount:${server}:paperclip`);
});
