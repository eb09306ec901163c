import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Credentials } from "./credentials.ts";
import { inCluster, loadContext } from "./kubeconfig.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "kubeconfig-test-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** YAML by hand, as people write it. */
function write(user: string, cluster = "", name = "config"): string {
  const path = join(dir, name);
  writeFileSync(
    path,
    `apiVersion: v1
kind: Config
current-context: here
clusters:
- name: c
  cluster:
    server: https://10.0.0.1:6443/
${cluster}
contexts:
- name: here
  context: {cluster: c, user: u, namespace: n-1}
users:
- name: u
  user:
${user}
`,
  );
  return path;
}

const optionsOf = async (kubeconfig: string) => (await Credentials.load({ kubeconfig })).requestOptions();
const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("what a request gets of a kubeconfig", () => {
  test("data in it", async () => {
    const user = `    client-certificate-data: ${base64("cert")}\n    client-key-data: ${base64("key")}\n    as: somebody`;
    const options = await optionsOf(
      write(user, `    certificate-authority-data: ${base64("ca")}\n    tls-server-name: api.test\n    insecure-skip-tls-verify: true`),
    );
    expect(options).toMatchObject({ servername: "api.test", rejectUnauthorized: false, headers: { "Impersonate-User": "somebody" } });
    expect([options.ca, options.cert, options.key].map(String)).toEqual(["ca", "cert", "key"]);
  });

  test("files beside it", async () => {
    mkdirSync(join(dir, "pki"));
    for (const name of ["ca", "cert", "key", "token"]) writeFileSync(join(dir, "pki", name), `${name} of a file\n`);
    const user = "    client-certificate: pki/cert\n    client-key: pki/key\n    tokenFile: pki/token\n    token: another";
    const options = await optionsOf(write(user, "    certificate-authority: pki/ca"));
    expect([options.ca, options.cert, options.key].map(String)).toEqual(["ca", "cert", "key"].map((name) => `${name} of a file\n`));
    expect(options.headers).toEqual({ Authorization: "Bearer token of a file" });
  });

  test("a user's name and password", async () => {
    expect(await optionsOf(write("    username: alice\n    password: secret"))).toMatchObject({ auth: "alice:secret", headers: {} });
  });

  test("certificate and token of a plugin, which gets its variables", async () => {
    const program = `console.log(JSON.stringify({ status: { token: "of-" + process.env.WHO, clientCertificateData: "C", clientKeyData: "K" } }))`;
    const exec = JSON.stringify({ command: process.execPath, args: ["-e", program], env: [{ name: "WHO", value: "plugin" }] });
    const options = await optionsOf(write(`    exec: ${exec}`));
    expect(options).toMatchObject({ cert: "C", key: "K", headers: { Authorization: "Bearer of-plugin" } });
  });

  test("a plugin beside the kubeconfig gets what kubectl gives it", async () => {
    const info = `#!${process.execPath}\nconsole.log(JSON.stringify({ status: { token: Buffer.from(process.env.KUBERNETES_EXEC_INFO).toString("base64") } }))`;
    mkdirSync(join(dir, "bin"));
    writeFileSync(join(dir, "bin", "plugin"), info, { mode: 0o755 });
    const given = async (more: object) => {
      const exec = JSON.stringify({ command: "./bin/plugin", apiVersion: "client.authentication.k8s.io/v1beta1", ...more });
      const { headers } = await optionsOf(write(`    exec: ${exec}`, `    certificate-authority-data: ${base64("ca")}`));
      const token = String((headers as Record<string, string>).Authorization).replace("Bearer ", "");
      return JSON.parse(Buffer.from(token, "base64").toString());
    };
    const plain = { kind: "ExecCredential", apiVersion: "client.authentication.k8s.io/v1beta1", spec: { interactive: false } };
    expect(await given({})).toEqual(plain);
    const cluster = { server: "https://10.0.0.1:6443", "certificate-authority-data": base64("ca") };
    expect(await given({ provideClusterInfo: true })).toEqual({ ...plain, spec: { interactive: false, cluster } });
  });

  test.each(["", "    proxy-url: http://127.0.0.1:1"])("a file with a token, and as whom: %j", async (cluster) => {
    writeFileSync(join(dir, "token"), "of-a-file\n");
    const user =
      "    tokenFile: token\n    as: alice\n    as-uid: u-1\n    as-groups: [devs, ops]\n    as-user-extra: {scopes/x: [one, two]}";
    expect((await optionsOf(write(user, cluster))).headers).toEqual({
      Authorization: "Bearer of-a-file",
      "Impersonate-User": "alice",
      "Impersonate-Uid": "u-1",
      "Impersonate-Group": ["devs", "ops"],
      "Impersonate-Extra-scopes%2Fx": ["one", "two"],
    });
  });

  test("a plugin that fails: its own words, and no credentials", async () => {
    const exec = JSON.stringify({ command: process.execPath, args: ["-e", "console.error('log in first'); process.exit(3)"] });
    await expect(optionsOf(write(`    exec: ${exec}`))).rejects.toMatchObject({
      code: "api_auth",
      message: expect.stringMatching(/log in first$/),
    });
    const silent = JSON.stringify({ command: process.execPath, args: ["-e", "console.log('null')"] });
    await expect(optionsOf(write(`    exec: ${silent}`))).rejects.toThrow("printed no credential");
  });

  test.each([
    ["an entry without a name", "users: [{user: {token: top-secret}}]"],
    ["a cluster without a server", "clusters: [{name: c, cluster: {}}]"],
    ["no mapping", "- top-secret"],
    ["nothing", ""],
  ])("%s: it cannot be used", async (_, text) => {
    const path = join(dir, "odd");
    writeFileSync(path, text);
    const error = await loadContext({ kubeconfig: path }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "api_config", message: expect.not.stringContaining("top-secret") });
  });
});

test("a renewal stays with the context, and with its server", async () => {
  const path = write("    token: old");
  const credentials = await Credentials.load({ kubeconfig: path });
  const token = async () => ((await credentials.requestOptions()).headers as Record<string, string>).Authorization;
  const other = "- name: there\n  context: {cluster: c, user: v}";
  writeFileSync(
    path,
    readFileSync(write("    token: new"), "utf8")
      .replace("contexts:", `contexts:\n${other}`)
      .replace(/current.*/, "current-context: there"),
  );
  expect(await credentials.renew(0)).toBe(true);
  expect(await token()).toBe("Bearer new");
  const moved = await Credentials.load({ kubeconfig: write("    token: mine") });
  writeFileSync(path, readFileSync(write("    token: of-another-cluster"), "utf8").replace("10.0.0.1", "10.0.0.2"));
  expect(await moved.renew(0)).toBe(false);
  expect((await moved.requestOptions()).headers).toEqual({ Authorization: "Bearer mine" });
});

test("of several files the first with a name counts", async () => {
  const [first, second] = [write("    token: one"), write("    token: two", "", "second")];
  expect(await loadContext({ kubeconfig: [first, second] })).toMatchObject({ user: { token: "one" }, namespace: "n-1" });
});

describe("the account of a pod", () => {
  test("address, files and namespace", async () => {
    for (const [name, text] of Object.entries({ "ca.crt": "ca", token: "t-1\n", namespace: "agents\n" }))
      writeFileSync(join(dir, name), text);
    const env = { KUBERNETES_SERVICE_HOST: "10.96.0.1", KUBERNETES_SERVICE_PORT: "443" };
    const context = await inCluster(env, dir);
    expect(context).toMatchObject({ cluster: { server: "https://10.96.0.1:443", skipTLSVerify: false }, namespace: "agents" });
    expect(context.user).toEqual({ name: "inClusterUser", tokenFile: join(dir, "token") });
    expect((await inCluster({ ...env, KUBERNETES_SERVICE_HOST: "fd00::1" }, dir)).cluster.server).toBe("https://[fd00::1]:443");
  });
});

test("the official client, 0.1 s of the server's time, is loaded for a proxy only", async () => {
  const program = `
    import { registerHooks } from "node:module";
    let loaded = false;
    registerHooks({ resolve: (name, context, next) => { loaded ||= name.includes("client-node"); return next(name, context); } });
    const { Credentials } = await import(process.argv[1]);
    for (const kubeconfig of process.argv.slice(2)) {
      await (await Credentials.load({ kubeconfig })).requestOptions();
      console.log(loaded);
    }`;
  const paths = [write("    token: t"), write("    token: t", "    proxy-url: http://127.0.0.1:1", "proxied")];
  const module = fileURLToPath(new URL("credentials.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program, module, ...paths]);
  expect(stdout.trim().split("\n")).toEqual(["false", "true"]);
});
