import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { AgentRun, Agents } from "./agents.ts";

/** Takes the turn in a process of its own, which is killed as soon as the CLI has asked the model. */
export async function killInTurn(stage: Agents, turn: AgentRun): Promise<void> {
  const { kubeconfig, namespace, images, data } = stage.bed;
  const order = JSON.stringify({ bed: { kubeconfig, namespace, images, data }, llm: { url: stage.llm.url }, turn });
  const script = fileURLToPath(new URL("turn-server.ts", import.meta.url));
  const server = spawn(process.execPath, [script, order], { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(server, "exit");
  const asked = () => stage.reported(turn.prompt).length > 0;
  for (let wait = 0; !asked() && server.exitCode === null && wait < 1200; wait++) await sleep(100);
  server.kill("SIGKILL");
  await ended;
  if (!asked()) throw new Error("the CLI did not ask the model");
}
