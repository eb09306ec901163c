import { expect, test } from "vitest";
import { relayEnv } from "./start-relay.ts";
import { parseTarget } from "./target.ts";

const loopback = "127.0.0.1,localhost";

test.for([
  [{}, undefined, undefined],
  [{ NO_PROXY: "a" }, undefined, undefined],
  [{ HTTP_PROXY: "" }, undefined, undefined],
  [{ HTTP_PROXY: "p" }, loopback, loopback],
  [{ https_proxy: "p", NO_PROXY: "a, b" }, `a,b,${loopback}`, `a,b,${loopback}`],
  [{ ALL_PROXY: "p", NO_PROXY: "a", no_proxy: "localhost" }, `a,${loopback}`, "localhost,127.0.0.1"],
  [{ HTTP_PROXY: "p", no_proxy: "*" }, "*", "*"],
] as const)("exceptions for loopback in %j", ([env, upper, lower]) => {
  const added = relayEnv(env, "URL", "http://127.0.0.1:1");
  expect([added.URL, added.NO_PROXY, added.no_proxy]).toEqual(["http://127.0.0.1:1", upper, lower]);
});

test.for([
  ["http://host:3100", { secure: false, host: "host", port: 3100, authority: "host:3100", path: "" }],
  ["https://host/", { secure: true, host: "host", port: 443, authority: "host", path: "/" }],
  ["http://me:pw@[::1]:80/a/b/", { secure: false, host: "::1", port: 80, authority: "[::1]", path: "/a/b/" }],
] as const)("the target %s", ([text, target]) => {
  expect(parseTarget(text)).toEqual(target);
});

test.for(["ftp://host", "host:1", "", "unix:/x"])("no target: '%s'", (text) => {
  expect(() => parseTarget(text)).toThrow();
});
