import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mountPointOf } from "@paperclip-k8s/engine";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkKubeconfig } from "./check-kubeconfig.ts";
import { parsePolicy } from "./parse-policy.ts";
import { Refusals } from "./refusal.ts";

let folder: string;
let data: string;
let outside: string;
let inside: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "kubeconfig-")));
  data = join(folder, "data");
  mkdirSync(join(data, "workspaces/agent"), { recursive: true });
  outside = join(folder, "kubeconfig");
  inside = join(data, "workspaces/agent/kubeconfig");
  for (const path of [outside, inside]) writeFileSync(path, "apiVersion: v1\n");
  symlinkSync(inside, join(folder, "linked"));
  symlinkSync(data, join(folder, "alias"));
  symlinkSync("alias", join(folder, "alias-of-alias"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The path by which the last one is opened. */
let opened: string | null;

interface Asked {
  readonly allow?: string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly dataPath?: string;
  readonly defaults?: { readonly dataPath?: string };
}

async function refusal(kubeconfig: string | null, { allow = [], env = {}, dataPath = data, defaults = {} }: Asked = {}) {
  const { policy } = parsePolicy({ allow: { kubeconfigs: allow }, defaults }, "/etc/policy.yaml");
  const refusals = new Refusals(policy);
  opened = await checkKubeconfig({ kubeconfig, dataPath }, policy, env, refusals);
  return refusals.found[0]?.text ?? null;
}

test("none, the server's own and those of the policy are allowed", async () => {
  expect(await refusal(null)).toBeNull();
  expect(await refusal(outside)).toContain("is not allowed by the operator's policy");
  expect(await refusal(outside, { env: { KUBECONFIG: `/etc/other:${outside}` } })).toBeNull();
  expect(await refusal(outside, { allow: [join(folder, "kube*")] })).toBeNull();
  expect(await refusal("/proc/self/environ", { allow: [join(folder, "*")] })).toContain("is not allowed");
});

test("one that agents can write is refused, whatever the policy says and wherever its links lead", async () => {
  const everything = { allow: ["/**"], env: { KUBECONFIG: inside } };
  for (const path of [inside, join(folder, "linked"), join(folder, "alias/workspaces/agent/kubeconfig")])
    expect(await refusal(path, everything), path).toContain("lies on the volume that agents can write, which no policy can allow");
});

test("one that is not there is refused: somebody could put it there later", async () => {
  const path = join(folder, "later");
  expect(await refusal(path, { allow: [path] })).toContain("is not there");
  expect(opened).toBeNull();
});

test("the data path may be a link itself, and the policy's own counts beside the agent's", async () => {
  const everything = { allow: ["/**"] };
  for (const dataPath of [join(folder, "alias"), join(folder, "alias-of-alias")])
    expect(await refusal(inside, { ...everything, dataPath }), dataPath).toContain("agents can write");
  const other = { ...everything, dataPath: "/elsewhere" };
  expect(await refusal(inside, { ...other, defaults: { dataPath: data } })).toContain("agents can write");
  expect(await refusal(inside, { ...other, defaults: { dataPath: join(folder, "alias") } })).toContain("agents can write");
});

test("it is opened by its real path, and by that of a Secret's mount, whose files are exchanged", async () => {
  symlinkSync(outside, join(folder, "to-outside"));
  expect(await refusal(join(folder, "to-outside"), { allow: ["/**"] })).toBeNull();
  expect(opened).toBe(outside);
  mkdirSync(join(folder, "secret/..v1"), { recursive: true });
  writeFileSync(join(folder, "secret/..v1/config"), "apiVersion: v1\n");
  symlinkSync("..v1", join(folder, "secret/..data"));
  symlinkSync("..data/config", join(folder, "secret/config"));
  symlinkSync("secret", join(folder, "secret-alias"));
  expect(await refusal(join(folder, "secret-alias/config"), { allow: ["/**"] })).toBeNull();
  expect(opened).toBe(join(folder, "secret/config"));
});

test.skipIf(mountPointOf("/dev/shm/x") !== "/dev/shm")("in a pod, all of the mount that has the data path is the agents'", async () => {
  const claim = mkdtempSync("/dev/shm/claim-");
  try {
    writeFileSync(join(claim, "kubeconfig"), "apiVersion: v1\n");
    const asked = { allow: ["/**"], dataPath: join(claim, "paperclip") };
    const env = { POD_NAME: "paperclip-0", POD_NAMESPACE: "agents" };
    expect(await refusal(join(claim, "kubeconfig"), { ...asked, env })).toContain("agents can write");
    expect(await refusal(join(claim, "kubeconfig"), asked)).toBeNull();
  } finally {
    rmSync(claim, { recursive: true, force: true });
  }
});
