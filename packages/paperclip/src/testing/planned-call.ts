// A real CLI, started by hand as its adapter has it started in a pod. For tests and bench.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withDefaults } from "../../../runner/src/cli/cli-defaults.ts";
import type { AgentCli, CliPlan, CliTurn } from "../agent-cli/agent-cli.ts";

export interface PlannedRun {
  readonly model: string;
  readonly env: Readonly<Record<string, string>>;
  /** Settings that only this CLI has; those left out are as if nobody had set them. */
  readonly own?: Readonly<Record<string, unknown>>;
  readonly sessionId?: string | null;
}

export interface PlannedCall {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A home of its own, as each run has one. */
export function makeHome(): { readonly home: string; remove(): void } {
  const home = mkdtempSync(join(tmpdir(), "planned-"));
  mkdirSync(join(home, "work"));
  return { home, remove: () => rmSync(home, { recursive: true, force: true }) };
}

export async function plannedCall(cli: AgentCli, program: string, home: string, run: PlannedRun): Promise<PlannedCall> {
  const plan = await cli.plan(turnOf(cli, program, run));
  const input = join(home, "input");
  mkdirSync(input, { recursive: true });
  for (const [name, text] of Object.entries(plan.files ?? {})) writeFileSync(join(input, name), text);
  const pathOf = (value: string | { readonly file: string }) => (typeof value === "string" ? value : join(input, value.file));
  const own = { PATH: "/usr/local/bin:/usr/bin:/bin", TMPDIR: home, ...run.env, ...plan.plainEnv, ...plan.secretEnv };
  // A pod has its home in one place, whoever starts it.
  const moved = Object.fromEntries(Object.entries(own).map(([name, value]) => [name, value.replace(/^\/agent\/home(?=\/|$)/, home)]));
  const env = withDefaults({ ...moved, HOME: home }, resolved(plan, pathOf)) as Record<string, string>;
  const [command, ...args] = plan.argv;
  return { command, args: args.map(pathOf), cwd: join(home, "work"), env };
}

/** The next pod of a session has the session, and nothing of the home besides. */
export async function emptyForNextPod(cli: AgentCli, program: string, home: string, run: PlannedRun): Promise<void> {
  const { defaults } = await cli.plan(turnOf(cli, program, run));
  for (const path of defaults?.flatMap(({ unless }) => unless) ?? [])
    if (!path.startsWith("/")) rmSync(join(home, path), { recursive: true, force: true });
}

function turnOf(cli: AgentCli, program: string, { model, env, own, sessionId = null }: PlannedRun): CliTurn {
  const unset = Object.fromEntries(Object.entries(cli.settings.own).map(([name, field]) => [name, field.unset]));
  const config = { model, effort: null, command: program, extraArgs: [], env, dangerouslySkipPermissions: true, own: { ...unset, ...own } };
  return {
    config: config as unknown as CliTurn["config"],
    agentId: "agent-1",
    env: { values: env, names: new Set(Object.keys(env)) },
    maybeSet: new Set(),
    sessionId,
    title: "The issue's title",
    promptBytes: 100,
    bundle: null,
    mcpServers: [],
    without: [],
  };
}

/** As the runner reads it from its spec. */
function resolved({ defaults }: CliPlan, pathOf: (value: string | { readonly file: string }) => string) {
  return (defaults ?? []).map((each) => {
    const values = Object.entries(each.env).map(([name, value]) => [name, pathOf(value)]);
    return { ...each, env: Object.fromEntries(values) as Record<string, string> };
  });
}
