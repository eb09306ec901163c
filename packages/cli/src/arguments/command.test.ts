import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { parseCommand } from "./command.ts";
import { UsageError } from "./values.ts";

const parse = (line: string, env: NodeJS.ProcessEnv = {}) => parseCommand(line.split(" ").filter(Boolean), env);

describe("commands", () => {
  test("nothing, help and --help list what there is", () => {
    for (const line of ["", "help", "--help", "-h"]) expect(parse(line)).toEqual({ name: "help", of: null });
    for (const line of ["help sweep", "sweep --help", "sweep -h"]) expect(parse(line)).toEqual({ name: "help", of: "sweep" });
    expect(parse("--version")).toEqual({ name: "version" });
  });

  test("an unknown command, option or word is named", () => {
    expect(() => parse("recovr")).toThrow(
      new UsageError(
        'there is no command "recovr"; one of: recover, drain, sweep, status, transcript, collect-tools, policy, check-adapters, upgrade-check',
      ),
    );
    expect(() => parse("drain --force")).toThrow(/Unknown option '--force'.*help drain/);
    expect(() => parse("status all")).toThrow(/Unexpected argument 'all'/);
    expect(() => parse("recover --url")).toThrow(UsageError);
  });
});

test("policy takes a file, or none", () => {
  expect(parse("policy")).toEqual({ name: "policy", file: null, json: false });
  expect(parse("policy p.yaml -o json")).toEqual({ name: "policy", file: resolve("p.yaml"), json: true });
  expect(() => parse("policy a b")).toThrow("policy takes one file, not 2");
  expect(() => parse("policy -o yaml")).toThrow('--output: "yaml" is not json');
});

test("upgrade-check asks the server that recover asks; -n is about Jobs, not about the server", () => {
  const env = { PAPERCLIP_API_URL: "https://host", PAPERCLIP_API_KEY: "key" };
  expect(parse("upgrade-check", env)).toEqual({
    name: "upgrade-check",
    host: { url: "https://host", token: "key", company: null },
    cluster: { kubeconfig: null, context: null, namespaces: [] },
    policy: null,
    serverNamespace: null,
    json: false,
  });
  expect(parse("upgrade-check -n agents --server-namespace paperclip --company Acme --policy p.yaml -o json")).toMatchObject({
    cluster: { namespaces: ["agents"] },
    host: { url: "http://127.0.0.1:3100", company: "Acme" },
    policy: resolve("p.yaml"),
    serverNamespace: "paperclip",
    json: true,
  });
  expect(() => parse("upgrade-check -o yaml")).toThrow('--output: "yaml" is not json');
});

describe("recover", () => {
  test("by itself it takes everything from the environment", () => {
    const env = { PAPERCLIP_API_URL: "https://host/", PAPERCLIP_API_KEY: "key", PAPERCLIP_HOME: "/data", PAPERCLIP_INSTANCE_ID: "two" };
    expect(parse("recover", env)).toEqual({
      name: "recover",
      cluster: { kubeconfig: null, context: null, namespaces: [] },
      host: { url: "https://host/", token: "key", company: null },
      data: "/data",
      instance: "two",
      issues: [],
      stopped: null,
      costs: true,
      dryRun: false,
      watch: null,
    });
  });

  test("in the server's container it finds the server", () => {
    expect(parse("recover", { PAPERCLIP_LISTEN_PORT: "3200" })).toMatchObject({ host: { url: "http://127.0.0.1:3200", token: null } });
    expect(parse("recover")).toMatchObject({ host: { url: "http://127.0.0.1:3100" }, data: null, instance: "default" });
  });

  test("its options", () => {
    const line = "recover --dry-run --watch --every 2m --issue A-1,A-2 --issue A-3 -n one -n two --company c --data /d --url http://h:1";
    expect(parse(line)).toMatchObject({
      cluster: { namespaces: ["one", "two"] },
      host: { url: "http://h:1", company: "c" },
      data: "/d",
      issues: ["A-1", "A-2", "A-3"],
      dryRun: true,
      watch: 120,
    });
    expect(parse("recover --watch")).toMatchObject({ watch: 15 });
    expect(parse("recover --no-costs")).toMatchObject({ costs: false });
    expect(parse("recover --issue A-1 --stopped=the-node-is-gone")).toMatchObject({ issues: ["A-1"], stopped: "the-node-is-gone" });
  });

  test("what makes no sense is refused", () => {
    expect(() => parse("recover --every 5s")).toThrow("--every is about --watch");
    expect(() => parse("recover --url ftp://h")).toThrow(/not an http address/);
    expect(() => parse("recover --watch --every soon")).toThrow(/90s, 15m, 24h or 7d/);
    expect(() => parse("recover --stopped=the-node-is-gone")).toThrow("--stopped is about --issue");
    expect(() => parse("recover --issue A-1 --stopped yes")).toThrow(/does not say how you know/);
    expect(() => parse("recover --watch --every 0")).toThrow(UsageError);
  });
});

test("transcript takes one run, and a folder to find it in", () => {
  expect(parse("transcript 0b5b9c1e --data /d")).toEqual({ name: "transcript", run: "0b5b9c1e", data: "/d", instance: "default" });
  expect(() => parse("transcript 0b5b9c1e")).toThrow(/PAPERCLIP_HOME/);
  for (const line of ["transcript", "transcript a b", "transcript ../x"]) expect(() => parse(line)).toThrow(/takes the id of one run/);
});

test("drain and sweep: times with their units", () => {
  expect(parse("drain")).toEqual({ name: "drain", undo: false, reason: null, timeoutSec: 30 });
  expect(parse("drain --undo --reason upgrade --timeout 45")).toEqual({ name: "drain", undo: true, reason: "upgrade", timeoutSec: 45 });
  expect(parse("sweep")).toMatchObject({
    olderThanSec: 86_400,
    filesOlderThanSec: 604_800,
    data: null,
    instance: "default",
    delete: false,
  });
  expect(parse("sweep --older-than 2d --delete")).toMatchObject({ olderThanSec: 172_800, filesOlderThanSec: 172_800, delete: true });
  expect(parse("sweep --data /volume")).toMatchObject({ data: "/volume" });
  // The files are read by a process with another working folder.
  expect(parse("sweep --data volume/")).toMatchObject({ data: resolve("volume") });
  expect(parse("sweep", { PAPERCLIP_HOME: "" })).toMatchObject({ data: null });
  expect(() => parse("sweep --older-than -1h")).toThrow(UsageError);
});
