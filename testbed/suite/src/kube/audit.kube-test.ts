import { readFile } from "node:fs/promises";
import { permissions } from "@paperclip-k8s/engine";
import { openCluster } from "@paperclip-k8s/kube";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "../bed.ts";
import { calm } from "../calm.ts";
import { finishRun, startRun } from "../run.ts";

// What the API server itself has written down about our requests.

const cluster = openCluster();
let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(async () => {
  await bed.stop();
  cluster.close();
});

interface Audited {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource: string;
    readonly apiGroup?: string;
    readonly subresource?: string;
    readonly namespace?: string;
  };
}

async function audited(): Promise<Audited[]> {
  const lines = (await readFile(cluster.auditLog, "utf8")).split("\n").filter((line) => line.includes(`serviceaccount:${bed.namespace}:`));
  // Without an object: GET /version, asked of a server that has been quiet for a while.
  return lines.map((line) => JSON.parse(line) as Audited).filter(({ objectRef }) => objectRef !== undefined);
}

test("no request outside the table of permissions, and three for a run", async () => {
  await finishRun(bed, { script: `console.log("x")` });
  const before = (await audited()).length;
  await finishRun(bed, { script: `console.log("x")` });
  const cancelled = startRun(bed, { script: `console.log("on"); setInterval(() => {}, 1000)` });
  await cancelled.saw("on\n");
  cancelled.cancel();
  await cancelled.done;
  await finishRun(bed, {
    script: "",
    engine: { timeouts: { imagePull: 1500, events: 300 } },
    change: (request) => ({ ...request, container: { ...request.container, image: bed.images.missing } }),
  });
  const all = await audited();
  const allowed = new Set(permissions.map(({ verb, group, resource }) => `${verb} ${group}/${resource}`));
  const made = new Set(all.map(({ verb, objectRef }) => `${verb} ${objectRef?.apiGroup ?? ""}/${objectRef?.resource}`));
  made.delete("create authorization.k8s.io/selfsubjectaccessreviews");
  for (const request of made) expect(allowed).toContain(request);
  const counted = all
    .slice(before)
    .filter(({ verb, objectRef }) => verb !== "watch" && objectRef?.resource !== "events")
    .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`);
  expect(counted.sort()).toEqual([...Array(3).fill("create jobs"), ...Array(3).fill("create secrets"), ...Array(3).fill("delete jobs")]);
});
