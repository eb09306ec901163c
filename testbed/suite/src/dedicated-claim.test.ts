import { randomUUID } from "node:crypto";
import type { ClaimVolume } from "@paperclip-k8s/engine";
import { permissions } from "@paperclip-k8s/engine";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Bed, onKube, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { type RunOptions, startRun } from "./run.ts";

// Claims of a run's own: made once, used as they are, handed to the pod's user without a touch on the shared volume.

let bed: Bed;
let storageClass: string;
beforeAll(async () => {
  bed = await startBed();
  storageClass = await bed.addStorageClass(12);
});
/** A claim outlives its run: each attempt of a test has its own. */
let attempt = 0;
beforeEach(() => void attempt++);
const own = (name: string) => `${name}-${attempt}`;
afterEach(() => calm(bed));
afterAll(() => bed.stop());

const LABELS = { "suite.test/kind": "own" };
const WRITE = `require("fs").writeFileSync(process.env.STATE + "/note", "kept"); console.log("written")`;
const READ = `console.log(require("fs").readFileSync(process.env.STATE + "/note", "utf8"))`;

function withClaim(name: string, script: string, change: Partial<ClaimVolume> = {}): RunOptions {
  const create = { storageClass, capacity: "1Gi", labels: LABELS };
  return {
    script,
    change: (request) => ({
      ...request,
      env: { ...request.env, plain: { ...request.env.plain, STATE: "/agent/state" } },
      volumes: {
        ...request.volumes,
        claims: [{ claimName: own(name), mountPath: "/agent/state", create, setOwnership: false, ...change }],
      },
    }),
  };
}

const claims = async (name: string) => (await bed.list("persistentvolumeclaims")).filter(({ metadata }) => metadata.name === own(name));
const text = (outcome: object) => ("message" in outcome ? String(outcome.message) : "");

test("made once, ReadWriteOnce and labelled, owned by no Job; what one run writes the next finds", async () => {
  const first = await startRun(bed, withClaim("kept", WRITE)).done;
  expect(first.outcome, text(first.outcome)).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(first.status.map((line) => line.text).join("\n")).toContain(
    `claim ${bed.namespace}/${own("kept")} made: 1Gi of storage class ${storageClass}`,
  );
  const [claim] = await claims("kept");
  expect(claim).toMatchObject({
    metadata: { labels: LABELS },
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: storageClass, resources: { requests: { storage: "1Gi" } } },
  });
  expect(claim?.metadata.ownerReferences).toBeUndefined();
  const from = bed.requests.length;
  const second = await startRun(bed, withClaim("kept", READ)).done;
  expect(second.output.toString()).toBe("kept\n");
  // One that is there costs one look, and no other pod.
  const asked = bed.requests.slice(from).map(({ verb, resource }) => `${verb} ${resource}`);
  expect(asked.filter((request) => request.endsWith("persistentvolumeclaims"))).toEqual(["get persistentvolumeclaims"]);
  expect(asked.filter((request) => request === "create jobs")).toHaveLength(1);
  await expect.poll(async () => (await bed.list("jobs")).length).toBe(0);
});

test("two servers at once make one claim, and both runs go on", async () => {
  const runs = await Promise.all([1, 2].map(() => startRun(bed, withClaim("raced", `console.log("on")`)).done));
  expect(await claims("raced")).toHaveLength(1);
  // The one that was not first may come to a volume that is not handed over yet: reported as what it is, and another start fixes it.
  const ended = runs.map(({ outcome }) => (outcome.kind === "never-started" ? outcome.cause : outcome.kind));
  expect(ended).toContain("exited");
  expect(["exited", "claim-not-writable"]).toEqual(expect.arrayContaining(ended));
  expect((await startRun(bed, withClaim("raced", WRITE)).done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
});

test("one that was made and not handed over is reported, and handed over when asked", async () => {
  // The server that made it went away before it could go on.
  const fault = bed.faults.fail({ verb: "create", resource: "jobs" }, { status: 422, times: 1 });
  const first = await startRun(bed, withClaim("orphan", WRITE)).done;
  fault.undo();
  expect(first.outcome.kind).toBe("never-started");
  const { outcome } = await startRun(bed, withClaim("orphan", WRITE)).done;
  // Pods of the embedded cluster are processes of one user.
  if (onKube) expect(outcome).toMatchObject({ kind: "never-started", cause: "claim-not-writable", permanent: false });
  if (onKube) expect(text(outcome)).toBe("user 1000:1000 cannot write to /agent/state (EACCES)");
  expect((await startRun(bed, withClaim("orphan", WRITE, { setOwnership: true })).done).outcome).toMatchObject({
    kind: "exited",
    exitCode: 0,
  });
  expect((await startRun(bed, withClaim("orphan", READ)).done).output.toString()).toBe("kept\n");
});

describe("refused before a Job exists", () => {
  const refused = async (options: RunOptions, from: Bed = bed) => {
    const run = startRun(from, options);
    const { outcome } = await run.done;
    expect(await run.jobs()).toBe(0);
    return outcome;
  };

  test("no claim and nothing to make it of", async () => {
    const name = `none-${randomUUID()}`;
    const outcome = await refused(withClaim(name, WRITE, { create: null }));
    expect(outcome).toMatchObject({ kind: "never-started", cause: "claim-missing", permanent: true });
    expect(await claims(name)).toEqual([]);
  });

  test("an account that may not make one says so; one that may not look makes it all the same", async () => {
    const without = (verb: string) =>
      bed.account(permissions.filter((row) => !(row.verb === verb && row.resource === "persistentvolumeclaims")));
    const outcome = await refused(withClaim("forbidden", WRITE), { ...bed, kubeconfig: await without("create") });
    expect(outcome).toMatchObject({ kind: "never-started", cause: "claim-create-failed", permanent: true });
    expect(text(outcome)).toContain(`not allowed to create persistentvolumeclaims in namespace ${bed.namespace}`);
    expect(await claims("forbidden")).toEqual([]);
    const blind = { ...bed, kubeconfig: await without("get") };
    expect((await startRun(blind, withClaim("unseen", WRITE)).done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
    expect((await startRun(blind, withClaim("unseen", READ)).done).output.toString()).toBe("kept\n");
  });

  test("one that has lost its volume", async () => {
    expect((await startRun(bed, withClaim("lost", WRITE)).done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
    await bed.faults.loseVolume(own("lost"));
    const phase = async () => (await claims("lost"))[0]?.status as { phase?: string } | undefined;
    await expect.poll(async () => (await phase())?.phase).toBe("Lost");
    const outcome = await refused(withClaim("lost", READ));
    expect(outcome).toMatchObject({ kind: "never-started", cause: "claim-unusable", permanent: true });
    expect(text(outcome)).toContain(`claim ${bed.namespace}/${own("lost")} has lost its volume`);
  });
});
