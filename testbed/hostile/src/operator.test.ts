import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";
import { type Permission, permissions } from "@paperclip-k8s/engine";
import { agentFolder } from "@paperclip-k8s/paperclip/paths";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ATTACKS } from "./attacker/list.ts";
import { MARK } from "./orders.ts";
import type { ServerProcess } from "./server/server-process.ts";
import { expectPrintable } from "./stage/checks.ts";
import { type Innocent, placeHostFiles, startInnocent, startRun } from "./stage/innocent.ts";
import { record } from "./stage/ledger.ts";
import { isSelected } from "./stage/selected.ts";
import { openStage, type Stage, serverEnv } from "./stage/stage.ts";

// Attackers whose server has died: an operator looks at their Jobs and files with the command line, beside an innocent run of a living server.

const SECRETS = (["list", "delete"] as const).map((verb) => ({ verb, resource: "secrets", group: "", scope: "namespace" }) as Permission);
const MAIN = fileURLToPath(new URL("../../../packages/cli/src/main.ts", import.meta.url));
const ATTACKER = { id: "attacker", company: "attacker-company" };
/** Listens until its pod is ended. */
const FAKE_SOCKET = "operator/fake-socket";
const ids = Object.keys(ATTACKS).filter((id) => id.startsWith("operator/") && isSelected(id));

/** Only there to end what hangs. */
const WAIT = { timeout: 150_000, interval: 200 };

let stage: Stage;
let server: ServerProcess;
let innocent: Innocent;
let printed: { readonly status: string; readonly sweep: string; readonly drain: string };

beforeAll(async () => {
  stage = await openStage();
  const policy = { volume: { mount: "whole" } };
  const dying = await stage.startServer(policy);
  server = await stage.startServer(policy);
  const host = await placeHostFiles(stage);
  innocent = await startInnocent(stage, server);
  const place = { dataPath: stage.bed.data, instanceId: "default" };
  const instance = `${stage.bed.data}/instances/default`;
  const aim = {
    ...host,
    ownLogs: agentFolder({ agent: { id: ATTACKER.id, companyId: ATTACKER.company, name: "" } }, place, "run-logs"),
    socketFolder: `${instance}/data/k8s-drain`,
    socketName: `${hash("sha256", `${hostname()}\0${instance}`).slice(0, 8)}-1-abcdef.sock`,
  };
  await Promise.all(
    ids.map((id) =>
      startRun(stage, dying, ATTACKER, {
        orders: { role: "attack", gate: id === FAKE_SOCKET ? "never" : "after", attacks: [id], aim },
        task: id.replace(/\W/g, "-"),
        name: `attacker \u001b]0;${MARK}\u0007\u001b[2J\r\u202e`,
      }),
    ),
  );
  const attacked = () => ids.every((id) => stage.listener.reports.some((report) => report.id === id));
  await vi.waitUntil(attacked, WAIT);
  await dying.stop();
  stage.listener.open("after");
  await vi.waitUntil(async () => (await endedJobs()) === ids.filter((id) => id !== FAKE_SOCKET).length, WAIT);
  const kubeconfig = await stage.bed.account([...permissions, ...SECRETS]);
  const cluster = ["--kubeconfig", kubeconfig, "-n", stage.bed.namespace];
  printed = {
    status: await cli("status", ...cluster),
    sweep: await cli("sweep", "--older-than", "1s", "--data", stage.bed.data, "--delete", ...cluster),
    drain: await cli("drain", "--undo"),
  };
}, 400_000);
afterAll(() => stage.stop());

/** Jobs of the attacker that have ended and that nobody has looked at. */
async function endedJobs(): Promise<number> {
  const jobs = (await stage.bed.list("jobs")) as unknown as {
    metadata: { labels?: Record<string, string> };
    status?: { conditions?: { type: string }[] };
  }[];
  const own = jobs.filter(({ metadata }) => metadata.labels?.["paperclip.io/agent-id"] === ATTACKER.id);
  return own.filter(({ status }) => status?.conditions?.some(({ type }) => type === "Complete" || type === "Failed")).length;
}

/** The operator's command, in the server's container: with its environment. */
function cli(...args: string[]): Promise<string> {
  const env = serverEnv(stage.bed, stage.listener, "");
  return new Promise((resolve) =>
    execFile(process.execPath, ["--max-old-space-size=192", MAIN, ...args], { env, maxBuffer: 1 << 26 }, (_, out, err) =>
      resolve(out + err),
    ),
  );
}

test.each(ids)("%s", async (id) => {
  expect(stage.listener.reports.find((report) => report.id === id)?.got).toBe(false);
  for (const text of Object.values(printed)) expectPrintable(text);
  expect(printed.status).toMatch(/Jobs?, \d+ of them at work/);
  expect(printed.sweep).toMatch(/deleted|nothing to remove/);
  expect(`${printed.status}${printed.sweep}`).not.toContain("the host's own");
  const happened = "status, sweep and drain ended; nothing unprintable in what they printed";
  record({ id, tried: ATTACKS[id]!.tries, happened, innocent: innocent.untouched(), server: server.gone ?? "lives" });
});

test("the host's files are there, and the innocent run ends as without attacks", async () => {
  expect(await readdir(`${stage.bed.data}/instances/default/db`)).toEqual(["PG_VERSION"]);
  await innocent.finish();
  expect(server.gone).toBeNull();
});
