import { expect, test } from "vitest";
import { configs } from "./configs.ts";
import { commandLines } from "./programs.ts";
import { settingsFrom } from "./settings.ts";

const settings = settingsFrom({ KUBE_DIR: "/var/tmp/one", KUBE_SUBNET: "10.9.8" });
const files = configs(settings);

/** Paths of the machine that a node may read; it writes only below its folder. */
const SHARED = ["/usr/lib/cni"];

test("everything a program is configured to write is below the cluster's folder", () => {
  const text = [...Object.values(files), JSON.stringify(commandLines(settings))].join("\n");
  const paths = text.match(/(?<=["=\s]|unix:\/\/)\/[\w./-]+/g)!;
  expect(paths.length).toBeGreaterThan(20);
  expect(paths.filter((path) => !path.startsWith("/var/tmp/one/") && !SHARED.includes(path))).toEqual([]);
});

test("every address that is listened on is the node's or loopback", () => {
  expect(JSON.parse(files["kubelet.json"]!)).toMatchObject({ address: "10.9.8.1" });
  for (const [name, command] of Object.entries(commandLines(settings))) {
    const bound = command.filter((word) => /^--(bind|advertise)-address=/.test(word)).map((word) => word.split("=")[1]);
    expect(bound.filter((address) => address !== "127.0.0.1" && address !== "10.9.8.1")).toEqual([]);
    if (/apiserver|manager|scheduler/.test(name)) expect(bound).not.toEqual([]);
  }
});

test("pods get addresses that are neither the node's nor the machine's", () => {
  const { plugins } = JSON.parse(files["cni/10-pods.conflist"]!);
  expect(plugins[0].ipam.ranges[0][0]).toMatchObject({ gateway: "10.9.8.1", rangeStart: "10.9.8.10" });
});
