import { request } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mayAccess } from "./access-review.ts";
import { getClaim, getJob, hasStorageClass, listEvents } from "./calls.ts";
import type { Connection } from "./connection.ts";
import { readOwnPod } from "./own-pod/own-pod.ts";
import { paths } from "./paths.ts";
import { allowedToAll, permissions } from "./permissions.ts";
import { deleteByUid } from "./testing/delete-job.ts";
import { answer, answerStatus, type Seen, TestApi, until } from "./testing/test-api.ts";
import { RunWatch } from "./watch/run-watch.ts";
import { changeJobOwner, createJob, createUnlessThere, dryRun, labelPod, patchSecret } from "./writes.ts";

const jobs = "/apis/batch/v1/namespaces/n/jobs";
const secrets = "/api/v1/namespaces/n/secrets";
const events = "/api/v1/namespaces/n/events";
const retry = { minMs: 1, maxMs: 5 };
let api: TestApi;
let connection: Connection;

beforeEach(async () => {
  api = await TestApi.start();
  connection = await api.connect();
});
afterEach(() => api.stop());

/** Does the work, then loses the answer, `times` times. */
function loseAnswers(method: string, times: number): void {
  api.hook = (seen, response) => {
    if (seen.method === method && times-- > 0) response.end = () => response.socket!.destroy() as never;
    return false;
  };
}

const job = (name: string, nonce: string) => ({ metadata: { name, annotations: { nonce } } });

describe("create", () => {
  test("a Job", async () => {
    expect(await createJob(connection, "n", job("a", "1"))).toMatchObject({ created: { name: "a", annotations: { nonce: "1" } } });
  });

  test("a Job whose name is taken: the one that has it is returned", async () => {
    api.put(jobs, "a", job("a", "other"));
    expect(await createJob(connection, "n", job("a", "mine"))).toMatchObject({ existing: { annotations: { nonce: "other" } } });
  });

  test("a Job whose answer was lost: the nonce shows that it is ours", async () => {
    loseAnswers("POST", 2);
    expect(await createJob(connection, "n", job("a", "mine"), { retry })).toMatchObject({ existing: { annotations: { nonce: "mine" } } });
    expect(api.requests("POST")).toHaveLength(3);
  });

  test("a Job whose create hangs", async () => {
    let hang = 1;
    api.hook = ({ method }) => method === "POST" && hang-- > 0;
    expect(await createJob(connection, "n", job("a", "1"), { retry, timeoutMs: 2_000 })).toMatchObject({ created: { name: "a" } });
  });

  test("a Job whose name becomes free in between", async () => {
    let taken = 1;
    api.hook = ({ method }, response) => {
      if (method !== "POST" || taken-- <= 0) return false;
      answerStatus(response, 409, "AlreadyExists", "was there");
      return true;
    };
    expect(await createJob(connection, "n", job("a", "1"))).toMatchObject({ created: { name: "a" } });
  });

  test("a busy quota answers a conflict: tried again", async () => {
    let busy = 2;
    api.hook = (_, response) => {
      if (busy-- <= 0) return false;
      answerStatus(response, 409, "Conflict", "Operation cannot be fulfilled on resourcequotas");
      return true;
    };
    expect(await createJob(connection, "n", job("a", "1"))).toMatchObject({ created: { name: "a" } });
  });

  test("a Secret, one that is there, and one whose answer was lost", async () => {
    expect(await createUnlessThere(connection, paths.secrets("n"), job("s", ""))).toBe(true);
    expect(await createUnlessThere(connection, paths.secrets("n"), job("s", ""))).toBe(false);
    loseAnswers("POST", 1);
    expect(await createUnlessThere(connection, paths.secrets("n"), job("t", ""), { retry })).toBe(false);
  });

  test("a refusal keeps its reason", async () => {
    api.hook = (_, response) => {
      answerStatus(response, 403, "Forbidden", "exceeded quota: q");
      return true;
    };
    await expect(createJob(connection, "n", job("a", "1"))).rejects.toMatchObject({
      code: "api_status",
      httpStatus: 403,
      maybeApplied: false,
    });
  });
});

describe("delete", () => {
  test("by uid, with a body whose length is given", async () => {
    const { metadata } = api.put(jobs, "a");
    expect(await deleteByUid(connection, "n", "a", { uid: metadata.uid, propagation: "Foreground" })).toBe("deleted");
    const [seen] = api.requests("DELETE");
    expect(seen?.headers["content-length"]).toBe(String(Buffer.byteLength(seen!.body)));
    expect(seen?.headers["transfer-encoding"]).toBeUndefined();
    expect(JSON.parse(seen!.body)).toEqual({
      apiVersion: "v1",
      kind: "DeleteOptions",
      preconditions: { uid: metadata.uid },
      propagationPolicy: "Foreground",
    });
  });

  test("another object of the same name stays", async () => {
    const { metadata } = api.put(jobs, "a");
    expect(await deleteByUid(connection, "n", "a", { uid: "another", propagation: "Background" })).toBe("replaced");
    expect(await getJob(connection, "n", "a")).toMatchObject({ uid: metadata.uid });
  });

  test("the trap this guards against: without a length the precondition is not read", async () => {
    api.put(jobs, "a");
    await new Promise((resolve) => {
      const body = JSON.stringify({ preconditions: { uid: "another" } });
      request(`${connection.server}${jobs}/a`, { method: "DELETE" }, (response) => response.resume().on("end", resolve)).end(body);
    });
    expect(await getJob(connection, "n", "a")).toBeNull();
  });

  test("one that is not there; one whose answer was lost", async () => {
    expect(await deleteByUid(connection, "n", "a", { uid: "u", propagation: "Background" })).toBe("gone");
    const { metadata } = api.put(jobs, "a");
    loseAnswers("DELETE", 1);
    expect(await deleteByUid(connection, "n", "a", { uid: metadata.uid, propagation: "Background" })).toBe("gone");
  });

  test("any other conflict is an error", async () => {
    api.hook = (_, response) => {
      answerStatus(response, 409, "Conflict", "the object has been modified");
      return true;
    };
    await expect(deleteByUid(connection, "n", "a", { uid: "u", propagation: "Background" })).rejects.toMatchObject({
      httpStatus: 409,
    });
  });
});

test("a dry run makes nothing, and returns what the API server warns of", async () => {
  api.hook = (seen, response) => {
    expect(seen.query.get("dryRun")).toBe("All");
    answer(response, 201, { metadata: {} }, { warning: '299 - "would violate PodSecurity \\"restricted:latest\\": x", 299 - "y"' });
    return true;
  };
  expect(await dryRun(connection, paths.jobs("n"), job("a", "1"))).toEqual(['would violate PodSecurity "restricted:latest": x', "y"]);
});

test("events: by uid, oldest first", async () => {
  api.hook = (_, response) => {
    const event = (reason: string, lastTimestamp: string) => ({ type: "Warning", reason, message: "m", lastTimestamp });
    answer(response, 200, { metadata: {}, items: [event("b", "2026-01-01T00:00:02Z"), event("a", "2026-01-01T00:00:01Z")] });
    return true;
  };
  expect((await listEvents(connection, "n", "u1")).map(({ reason }) => reason)).toEqual(["a", "b"]);
  expect(api.lists(events)[0]?.query.get("fieldSelector")).toBe("involvedObject.uid=u1");
});

/** What RBAC would call a request. */
function ruleOf({ method, path, query }: Seen): string {
  const [, root, ...parts] = path.split("/");
  const group = root === "apis" ? parts[0] : "";
  const inside = parts.indexOf("namespaces") + 2;
  const [resource, name] = parts.slice(inside > 1 ? inside : root === "apis" ? 2 : 1);
  const read = query.has("watch") ? "watch" : name ? "get" : "list";
  const verb = { GET: read, POST: "create", PATCH: "patch", DELETE: "delete" }[method];
  return `${verb} ${group}/${resource}`;
}

test("every request made is in the table of permissions, and the table holds nothing else", async () => {
  const watch = new RunWatch(connection, "n", "app=x");
  watch.subscribe("a", () => {});
  await watch.ready;
  await until(() => api.watches.size === 2);
  await createJob(connection, "n", job("a", "1"));
  await createJob(connection, "n", job("a", "2"));
  await createUnlessThere(connection, paths.secrets("n"), job("s", ""));
  await dryRun(connection, paths.jobs("n"), job("b", "1"));
  await getClaim(connection, "n", "data");
  await createUnlessThere(connection, paths.claims("n"), job("c", ""));
  await hasStorageClass(connection, "fast");
  await listEvents(connection, "n", "u");
  await expect(readOwnPod(connection, { namespace: "n", podName: "own", containers: [] })).rejects.toThrow("no pod n/own");
  await changeJobOwner(connection, "n", "a", { uid: "u", key: "k", from: "1", to: "2", label: "2", annotations: {} });
  await patchSecret(connection, "n", "s", { labels: {}, data: {} });
  await labelPod(connection, "n", { name: "p", uid: "u" }, {});
  await deleteByUid(connection, "n", "a", { uid: "u", propagation: "Background" });
  watch.close();
  expect(api.requests("POST", secrets)).toHaveLength(1);
  const made = new Set(api.seen.map(ruleOf));
  await mayAccess(connection, "n", permissions[0]!);
  expect(`${api.seen.at(-1)!.method} ${api.seen.at(-1)!.path}`).toBe(`POST /apis/${allowedToAll.group}/v1/${allowedToAll.resource}`);
  expect([...made].sort()).toEqual(permissions.map(({ verb, group, resource }) => `${verb} ${group}/${resource}`).sort());
});
