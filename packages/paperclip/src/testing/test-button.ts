import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createEngine } from "@paperclip-k8s/engine";
import type { AgentCli } from "../agent-cli/agent-cli.ts";
import { testEnvironment } from "../doctor/test-environment.ts";
import type { EnvironmentCheck, EnvironmentTestResult } from "../host/types.ts";
import { exampleCli } from "./example-cli.ts";
import { TEST_POLICY } from "./test-policy.ts";

/** The result of the form's "Test". */
interface Pressed extends EnvironmentTestResult {
  of(code: string): EnvironmentCheck | undefined;
  /** Each check as "level code". */
  readonly codes: readonly string[];
}

/** As much of the embedded cluster as is used here: only tests themselves may import it. */
interface Cluster {
  readonly dir: string;
  readonly kubeconfig: string;
  createNamespace(name: string): unknown;
  createClaim(namespace: string, name: string, path: string): unknown;
  stop(): Promise<void>;
}
type StartCluster<C> = (options: { images: Record<string, { path: string[] }> }) => Promise<C>;

/** A cluster with all that an agent needs, and the form's "Test" to press. */
export interface TestButton<C> {
  readonly pocket: C;
  /** The shared volume. */
  readonly data: string;
  press(config?: Record<string, unknown>, serverEnv?: NodeJS.ProcessEnv, cli?: AgentCli): Promise<Pressed>;
  /** A kubeconfig with something else in it. */
  changedConfig(from: RegExp, to: string): string;
  end(): Promise<void>;
}

/** A pod that nobody makes is given up sooner than in life. */
const timeouts = { noPod: 500 };

export async function openTestButton<C extends Cluster>(startPocket: StartCluster<C>): Promise<TestButton<C>> {
  const data = realpathSync(mkdtempSync(join(tmpdir(), "test-environment-")));
  const pocket = await startPocket({ images: { "agent:1": { path: [dirname(process.execPath), "/usr/bin", "/bin"] } } });
  pocket.createNamespace("agents");
  pocket.createClaim("agents", "data", data);
  const usual = { kubeconfig: pocket.kubeconfig, namespace: "agents", image: "agent:1", dataClaim: "data", dataPath: data };
  let configs = 0;
  return {
    pocket,
    data,
    press: async (config = {}, serverEnv = {}, cli = exampleCli) => {
      const test = { companyId: "company-1", config: { ...usual, ...config } };
      const result = await testEnvironment(cli, test, {
        engine: createEngine(),
        serverEnv: { ...TEST_POLICY, ...serverEnv },
        timeouts,
      });
      const of = (code: string) => result.checks.find((check) => check.code === code);
      return { ...result, of, codes: result.checks.map(({ level, code }) => `${level} ${code}`) };
    },
    changedConfig: (from, to) => {
      const path = join(pocket.dir, `kubeconfig-${configs++}`);
      writeFileSync(path, readFileSync(pocket.kubeconfig, "utf8").replace(from, to));
      return path;
    },
    end: async () => {
      await pocket.stop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}
