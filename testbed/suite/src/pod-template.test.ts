import type { RunRequest } from "@paperclip-k8s/engine";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { finishRun } from "./run.ts";

// Of a pod template, what both clusters have: init containers, volumes and variables. What runs beside the agent is in kube/pod-template.kube-test.ts.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

const NOTES = { name: "notes", mountPath: "/notes" };
const env = [{ name: "NOTES", value: "/notes/first" }];

const withInit = (script: string) => (request: RunRequest) => ({
  ...request,
  template: {
    initContainers: [{ name: "first", image: bed.images.agent, command: ["node", "-e", script], volumeMounts: [NOTES], env }],
    sidecars: [],
    volumes: [{ name: "notes", emptyDir: {} }],
    volumeMounts: [NOTES],
    env,
  },
});

test("an init container's work is there when the agent starts", async () => {
  const init = withInit(`require("node:fs").writeFileSync(process.env.NOTES, "from the init container")`);
  const script = `console.log(require("node:fs").readFileSync(process.env.NOTES, "utf8"))`;
  const { outcome, output } = await finishRun(bed, { script, change: init });
  expect(output.toString()).toBe("from the init container\n");
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
});

test("an init container that fails is the run's failure to start, with its name and its words", async () => {
  const { outcome, status } = await finishRun(bed, { change: withInit(`console.error("no seed found"); process.exit(5)`) });
  const why = "init container first exited with code 5: no seed found";
  expect(outcome).toMatchObject({ kind: "never-started", cause: "init-failed", message: why });
  expect(status.map(({ text }) => text)).toContain(why);
});
