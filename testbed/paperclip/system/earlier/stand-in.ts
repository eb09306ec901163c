import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

// Stands in for an earlier adapter: a real host loads it, and the real CLI leaves its files where those adapters had them left. It has no Job
// of its own, because only what stays behind matters here.

/** What is different for each CLI; the test writes it beside this file. */
export interface StandInSpec {
  readonly type: string;
  readonly argv: readonly [string, ...string[]];
  /** The option before the id of a session to be resumed. */
  readonly resume: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where the CLI keeps its database, by the agent's `agentDbMode`; in the shared HOME where this has no such mode. */
  readonly databases: { readonly variable: string; readonly files: Readonly<Record<string, string>> };
  /** Stands in each prompt, so that a later turn shows whether it remembers this one. */
  readonly mark: string;
}

interface Context {
  readonly runId: string;
  readonly authToken?: string;
  readonly agent: { readonly id: string; readonly companyId: string };
  readonly config: { readonly env?: Readonly<Record<string, string>>; readonly model?: string; readonly agentDbMode?: string };
  readonly runtime: { readonly taskKey?: string | null; readonly sessionParams?: { readonly sessionId?: string } | null };
  readonly context: Readonly<Record<string, unknown>> & { readonly paperclipWorkspace?: Readonly<Record<string, string>> };
  onLog(stream: "stdout" | "stderr", text: string): Promise<void>;
}

const HOME = process.env.PAPERCLIP_HOME ?? "";

async function execute(spec: StandInSpec, ctx: Context) {
  const workspace = ctx.context.paperclipWorkspace ?? {};
  const { stdout, exitCode } = await runCli(spec, ctx, workspace.cwd ?? HOME);
  const sessionId = /"session(?:ID|_id)":"([^"]+)"/.exec(stdout)?.[1] ?? null;
  // The keys that the earlier adapters stored.
  const { cwd, workspaceId, repoUrl, repoRef } = workspace;
  const known = Object.entries({ cwd, workspaceId, repoUrl, repoRef }).filter(([, value]) => value);
  const sessionParams = sessionId === null ? null : { sessionId, ...Object.fromEntries(known) };
  const result = { sessionId, sessionParams, sessionDisplayId: sessionId, resultJson: { stdout }, summary: "done" };
  return { exitCode, signal: null, timedOut: false, ...(exitCode === 0 ? {} : { errorMessage: stdout.slice(-2000) }), ...result };
}

async function runCli(spec: StandInSpec, ctx: Context, cwd: string): Promise<{ stdout: string; exitCode: number }> {
  const session = ctx.runtime.sessionParams?.sessionId;
  const model = ctx.config.model === undefined ? [] : ["--model", ctx.config.model];
  const [program, ...args] = [...spec.argv, ...model, ...(session === undefined ? [] : [spec.resume, session])];
  const task = String(ctx.context.taskId ?? ctx.context.issueId ?? "");
  const own = { PAPERCLIP_RUN_ID: ctx.runId, PAPERCLIP_TASK_ID: task, PAPERCLIP_API_KEY: ctx.authToken ?? "" };
  const server = { PATH: process.env.PATH, LANG: "C.UTF-8", PAPERCLIP_API_URL: process.env.PAPERCLIP_API_URL };
  const env = { ...server, ...own, ...ctx.config.env, ...spec.env, ...databaseOf(spec, ctx), HOME };
  mkdirSync(cwd, { recursive: true });
  const child = spawn(program as string, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(`${spec.mark}\n\n${ctx.context.paperclipTaskMarkdown ?? ""}\n\n${JSON.stringify(ctx.context.paperclipWake ?? {})}\n`);
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (text: Buffer) => (stdout += text));
  child.stderr.on("data", (text: Buffer) => (stderr += text));
  const exitCode = await new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? 1)));
  await ctx.onLog("stdout", stdout);
  if (stderr !== "") await ctx.onLog("stderr", stderr);
  return { stdout: exitCode === 0 ? stdout : `${stdout}${stderr}`, exitCode };
}

function databaseOf({ databases }: StandInSpec, { agent, runtime, config }: Context): Record<string, string> {
  const pattern = databases.files[config.agentDbMode ?? ""];
  if (pattern === undefined) return {};
  const parts: Record<string, string> = { home: HOME, company: agent.companyId, agent: agent.id, task: runtime.taskKey ?? "" };
  const file = pattern.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? "");
  mkdirSync(dirname(file), { recursive: true });
  return { [databases.variable]: file };
}

/** The host's entry point. */
export function createServerAdapter() {
  const spec = JSON.parse(readFileSync(join(import.meta.dirname, "spec.json"), "utf8")) as StandInSpec;
  const same = (params: unknown) => params;
  return {
    type: spec.type,
    execute: (ctx: Context) => execute(spec, ctx),
    testEnvironment: async () => ({ adapterType: spec.type, status: "pass", checks: [], testedAt: new Date().toISOString() }),
    sessionCodec: {
      deserialize: same,
      serialize: same,
      getDisplayId: (params: { sessionId?: string } | null) => params?.sessionId ?? null,
    },
    models: [],
    supportsLocalAgentJwt: true,
    supportsInstructionsBundle: true,
    instructionsPathKey: "instructionsFilePath",
    requiresMaterializedRuntimeSkills: true,
  };
}
