import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function refusal(kubeconfig: string | null, { allow = [] as string[], env = {} as NodeJS.ProcessEnv } = {}): Promise<string | null> {
  const { policy } = parsePolicy({ allow: { kubeconfigs: allow } }, "/etc/policy.yaml");
  const refusals = new Refusals(policy);
  await checkKubeconfig({ kubeconfig, dataPath: data }, policy, env, refusals);
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
