import { expect, test } from "vitest";
import { DEFAULT_POLICY } from "../policy/policy.ts";
import { exampleCli } from "../testing/example-cli.ts";
import { checkSettings } from "./check-settings.ts";

const found = (raw: unknown) => checkSettings(exampleCli, raw).filter(({ isDefault }) => !isDefault);

test("settings without a problem have no finding but those of changed defaults", () => {
  expect(found({ model: "m", timeoutSec: 60, env: { A: "b" } })).toEqual([]);
  expect(checkSettings(exampleCli, {}).map(({ setting, kind }) => [setting, kind])).toEqual([
    ["inherit", "changed"],
    ["concurrency", "changed"],
    ["nodeSelector", "changed"],
    ["tolerations", "changed"],
  ]);
});

test.each([null, undefined, 5, "x", []])("what is no object has no settings: %j", (raw) => {
  expect(found(raw)).toEqual([]);
});

test("every refused setting is named, and what the policy does not allow", () => {
  expect(found({ image: "a b", namespace: "Bad_Name", serviceAccountName: "deployer" })).toMatchObject([
    { setting: "image", label: "Image", kind: "refused", text: expect.stringContaining("must be an image reference") },
    { setting: "namespace", label: "Namespace", kind: "refused" },
    { setting: "serviceAccountName", label: "Service account", kind: "refused", todo: "allow it in the policy, or clear it" },
  ]);
});

test("one finding for a setting whose earlier value means something else now", () => {
  expect(found({ ttlSecondsAfterFinished: 300 })).toMatchObject([{ setting: "ttlSecondsAfterFinished", kind: "changed" }]);
});

test("a key without effect", () => {
  expect(found({ replicas: 3 })).toMatchObject([{ setting: "replicas", label: null, kind: "ignored" }]);
});

test("what only the server's own pod could allow is refused with that remark", () => {
  const servers = "nothing if it is the server's own; else allow it in the policy, or clear it";
  const control = "node-role.kubernetes.io/control-plane";
  const raw = { kubeconfig: "/etc/kube/config", nodeSelector: `${control}=`, tolerations: [{ key: control, operator: "Exists" }] };
  expect(found(raw)).toMatchObject([
    { setting: "nodeSelector", kind: "refused", todo: servers },
    { setting: "tolerations[0]", kind: "refused", todo: servers },
    { setting: "kubeconfig", kind: "refused", todo: servers },
  ]);
  expect(found({ nodeSelector: "disktype=ssd", tolerations: [{ key: "dedicated", operator: "Exists" }] })).toEqual([]);
});

test("an image of the agent's own: what it must have is said, unless tools are offered and used", () => {
  const about = (raw: object, image: string | null) =>
    checkSettings(exampleCli, raw, { ...DEFAULT_POLICY, tools: { image, mount: "copy" } }).filter(({ setting }) => setting === "image");
  const image = "jdk:25";
  const changed = [expect.objectContaining({ kind: "changed", text: expect.stringContaining("Node ≥ 18") })];
  expect(about({ image }, null)).toEqual(changed);
  expect(about({ image, tools: "never" }, "tools:1")).toEqual(changed);
  expect(about({ image }, "tools:1")).toEqual([]);
  expect(about({}, null)).toEqual([]);
});
