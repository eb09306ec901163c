// A pod's look at itself, run as an ordinary command: `node -e <this text> <config as JSON>`. One JSON line per finding, then exit code 0.
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { get as httpGet } from "node:http";
import { get as httpsGet } from "node:https";
import { cutText } from "../cut-text.ts";
import type { SelfCheckConfig, SelfCheckFinding } from "./self-check-records.ts";

type Finding = Omit<SelfCheckFinding, "check">;

const config = JSON.parse(process.argv[process.argv.length - 1] ?? "{}") as SelfCheckConfig;

function report(check: string, finding: Finding): void {
  process.stdout.write(`${JSON.stringify({ check, ...finding })}\n`);
}

function runtime(): Finding {
  const user = process.getuid === undefined ? "" : `, user ${process.getuid()}:${process.getgid?.()}`;
  return { ok: true, detail: `${process.release.name} ${process.version}${user}` };
}

function version(): Promise<Finding> {
  return new Promise((resolve) => {
    execFile(config.cli, ["--version"], { timeout: config.timeoutMs, killSignal: "SIGKILL" }, (error, stdout, stderr) => {
      const firstLine = cutText(`${stdout}\n${stderr}`.trim().split("\n")[0] ?? "", 200);
      if (error === null) return resolve({ ok: true, detail: firstLine });
      if (error.code === "ENOENT")
        return resolve({ ok: false, missing: true, detail: `${config.cli} is not in PATH ${cutText(process.env.PATH ?? "", 300)}` });
      const how = error.killed ? `did not answer in ${config.timeoutMs / 1000} s` : `ended with ${error.code ?? error.signal}`;
      resolve({ ok: false, detail: `${config.cli} --version ${how}${firstLine === "" ? "" : `: ${firstLine}`}` });
    });
  });
}

function folder(named: string): Finding {
  const path = named.startsWith("$") ? (process.env[named.slice(1)] ?? "") : named;
  if (path === "") return { ok: false, detail: `${named} is not set` };
  const file = `${path}/.self-check-${process.pid}-${Date.now()}`;
  try {
    writeFileSync(file, "x", { flag: "wx" });
    rmSync(file);
    return { ok: true, detail: path };
  } catch (error) {
    return { ok: false, detail: `${path}: ${(error as NodeJS.ErrnoException).code ?? String(error)}` };
  }
}

function answer(url: string): Promise<Finding> {
  return new Promise((resolve) => {
    const failed = (why: string) => resolve({ ok: false, detail: `${url}: ${why}` });
    try {
      const request = (url.startsWith("https:") ? httpsGet : httpGet)(url, { timeout: config.timeoutMs }, (response) => {
        const status = response.statusCode ?? 0;
        response.destroy();
        resolve({ ok: status >= 200 && status < 500, detail: `${url}: ${status}` });
      });
      request.on("timeout", () => request.destroy(new Error(`no answer in ${config.timeoutMs / 1000} s`)));
      request.on("error", (error: NodeJS.ErrnoException) => failed(error.code ?? error.message));
    } catch (error) {
      failed((error as Error).message);
    }
  });
}

async function main(): Promise<void> {
  report("runtime", runtime());
  for (const [name, path] of Object.entries(config.folders)) report(`folder:${name}`, folder(path));
  const slow = [version().then((finding) => report("cli", finding))];
  if (config.url !== null) slow.push(answer(config.url).then((finding) => report("url", finding)));
  await Promise.all(slow);
}

void main();
