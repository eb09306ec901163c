import { expect, test } from "vitest";
import { settingsFrom } from "./settings.ts";

test("one folder and one subnet make a cluster of its own", () => {
  const first = settingsFrom({});
  const second = settingsFrom({ KUBE_DIR: "/var/tmp/second/", KUBE_SUBNET: "192.168.100" });
  expect(second).toMatchObject({ dir: "/var/tmp/second", nodeAddress: "192.168.100.1", hostAddress: "192.168.100.2" });
  expect([first.dir, first.subnet, first.link]).not.toContain(second.dir);
  expect(first.link).not.toBe(second.link);
  expect(second.link.length).toBeLessThan(16); // the kernel's limit
});

test.each(["/var/lib/kube", "/run/kube", "/var/run/kube", "relative", "/", `/${"x".repeat(90)}`, "/with space"])(
  "%s cannot hold a cluster",
  (dir) => {
    expect(() => settingsFrom({ KUBE_DIR: dir })).toThrow("KUBE_DIR");
  },
);

test.each(["10.0", "10.0.0.0", "10.0.0/24", ""])("%j is no subnet", (subnet) => {
  expect(() => settingsFrom({ KUBE_SUBNET: subnet })).toThrow("KUBE_SUBNET");
});
