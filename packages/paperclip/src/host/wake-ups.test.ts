import { expect, test } from "vitest";
import { wakeUpSetting } from "./wake-ups.ts";

const setting = (value: string) => wakeUpSetting({ PAPERCLIP_K8S_WAKE_UPS: value });

test("off, an address, an address with a port", () => {
  expect(wakeUpSetting({})).toEqual({});
  expect(setting(" ")).toEqual({});
  expect(setting("off")).toEqual({ rule: "off" });
  expect(setting("10.1.2.3")).toEqual({ rule: { address: "10.1.2.3" } });
  expect(setting("10.1.2.3:4000")).toEqual({ rule: { address: "10.1.2.3", port: 4000 } });
  expect(setting("fd00::1")).toEqual({ rule: { address: "fd00::1" } });
  expect(setting("[fd00::1]")).toEqual({ rule: { address: "fd00::1" } });
  expect(setting("[fd00::1]:4000")).toEqual({ rule: { address: "fd00::1", port: 4000 } });
});

test.each(["on", "paperclip.example", "10.1.2.3:", "10.1.2.3:0", "10.1.2.3:70000", "[10.1.2.3]:1", "10.1.2", ":4000", "fd00::1]:1"])(
  "%j is named in the log with its variable, and ignored",
  (value) => {
    const { rule, warning } = setting(value);
    expect(rule).toBeUndefined();
    expect(warning).toContain("PAPERCLIP_K8S_WAKE_UPS");
    expect(warning).toContain(JSON.stringify(value));
  },
);
