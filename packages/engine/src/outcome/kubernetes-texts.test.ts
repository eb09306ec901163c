import { expect, test } from "vitest";
import { configReason, denialReason, mountReason, plain, pullReason, runtimeReason, schedulerReason } from "./kubernetes-texts.ts";

test.each([
  [
    'rpc error: code = NotFound desc = failed to pull and unpack image "docker.io/library/nope:1": failed to resolve reference "docker.io/library/nope:1": docker.io/library/nope:1: not found',
    "not found",
  ],
  [
    'Back-off pulling image "r/x:1": ErrImagePull: failed to pull and unpack image "r/x:1": failed to resolve reference "r/x:1": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
    "pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed",
  ],
  [
    'failed to pull and unpack image "r.example/x:1": failed to resolve reference "r.example/x:1": failed to do request: Head "https://r.example/v2/x/manifests/1": dial tcp: lookup r.example on 10.96.0.10:53: no such host',
    "dial tcp: lookup r.example on 10.96.0.10:53: no such host",
  ],
  [
    'failed to pull and unpack image "r.example/x:1": failed to resolve reference "r.example/x:1": failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://r.example/token: 403 Forbidden',
    "unexpected status from GET request to https://r.example/token: 403 Forbidden",
  ],
  ["initializing source docker://r.example/x:1: reading manifest 1 in r.example/x: manifest unknown", "manifest unknown"],
  ['Back-off pulling image "x"', ""],
])("what a registry said: %s", (text, short) => expect(pullReason(text)).toBe(short));

test("who passed a text on does not matter, nor ids and JSON in it", () => {
  expect(
    runtimeReason(
      'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "node": executable file not found in $PATH: unknown',
    ),
  ).toBe('exec: "node": executable file not found in $PATH');
  expect(denialReason('Error creating: pods "a-x1" is forbidden: exceeded quota: q, requested: pods=1')).toBe(
    "exceeded quota: q, requested: pods=1",
  );
  expect(mountReason('MountVolume.SetUp failed for volume "s" : configmap "c" not found')).toBe('volume "s": configmap "c" not found');
  expect(schedulerReason("0/2 nodes are available: 2 Too many pods. preemption: 0/2 nodes are available.")).toBe(
    "0/2 nodes are available: 2 Too many pods",
  );
  expect(configReason('container has runAsNonRoot and image will run as root (pod: "a_ns(1-2)", container: agent)')).toBe(
    "container has runAsNonRoot and image will run as root",
  );
  expect(plain(`sandbox "${"ab12".repeat(16)}": denied: {"errors":[{"code":"DENIED"}]}`)).toBe("sandbox …: denied");
  expect(plain("x".repeat(5000)).length).toBeLessThan(500);
});

test.each([
  ["brackets", '[{"'.repeat(100_000)],
  ["keys without an end", '{"a":'.repeat(100_000)],
  ["full stops", `${".".repeat(500_000)}x`],
  ["wrappers", "Error: ".repeat(100_000)],
  ["pods", " (pod: (".repeat(100_000)],
  ["ids", `${"a".repeat(500_000)}g`],
  ["blanks", `${" ".repeat(500_000)}x`],
])("a long text of %s costs no more than a short one", (_, text) => {
  for (const read of [plain, pullReason, runtimeReason, denialReason, mountReason, schedulerReason, configReason])
    expect(read(text).length).toBeLessThan(500);
});
