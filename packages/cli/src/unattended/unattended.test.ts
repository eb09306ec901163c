import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { HostApi } from "@paperclip-k8s/paperclip/host-api";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { adapters, cliNames } from "../../../adapters.ts";
import type { ListedRun } from "../recovery/find/listed-runs.ts";
import { runCommand } from "../run-command.ts";
import type { Terminal } from "../terminal.ts";
import { endRecord, metaFile, SECRET } from "../testing/example-run.ts";
import { unattendedListing } from "./listing.ts";
import { lookAtUnattended, Memory } from "./look-at-unattended.ts";
import { readUnattended } from "./read-unattended.ts";
import { readMark, reportCost } from "./report-cost.ts";

// Real files and recordings of the real CLIs; the host's answers are shaped as those of Paperclip 2026.916.1.

const RUN = "0b5b9c1e-aaaa-bbbb-cccc-000000000000";
const COMPANY = "5d0b8a53-0000-4000-8000-00000000c001";
const AGENT = "5d0b8a53-0000-4000-8000-00000000a001";
const ISSUE = "5d0b8a53-0000-4000-8000-00000000f001";
const run: ListedRun = {
  id: RUN,
  status: "failed",
  errorCode: "process_lost",
  agentId: AGENT,
  retryOfRunId: null,
  superseded: false,
  companyId: COMPANY,
  issueId: ISSUE,
  finishedAt: null,
  neverStarted: false,
  mayHaveLostResult: false,
};

let adapterType = "";
let status = "done";
let usageJson: Record<string, unknown> | null = null;
let refusal: number | null = null;
let broken: string | null = null;
let record: Record<string, unknown> = {};
let events: Record<string, unknown>[] = [];
let server: Server;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    if (request.method === "POST" && refusal !== null) response.statusCode = refusal;
    if (broken !== null && request.url?.includes(broken)) response.statusCode = 500;
    response.end(JSON.stringify(answer(request.url ?? "", text)));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
});
afterAll(() => server.close());
beforeEach(() => {
  [adapterType, status, usageJson, refusal, events] = [`${cliNames[0]}_k8s`, "done", null, null, []];
  [broken, record] = [null, {}];
});

function answer(url: string, text: string): unknown {
  if (url.includes("/cost-events")) return refusal === null ? events.push(JSON.parse(text)) : { error: "no" };
  if (url.includes("/issues/")) return { id: ISSUE, identifier: "ACME-9", status, companyId: COMPANY, projectId: "project-1" };
  if (url.includes("/heartbeat-runs/")) return record;
  if (url.includes("/agents/")) return { id: AGENT, adapterType };
  return [{ id: "newer", usageJson: null }, ...(usageJson === null ? [] : [{ id: "older", usageJson }])];
}

const host = () => new HostApi(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, null, 30_000);

/** The files that a run left, as its runner writes them. */
function volume(output: Buffer, change: Parameters<typeof endRecord>[0] = {}) {
  const data = mkdtempSync(join(tmpdir(), "unattended-"));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const path = join(data, "instances/default/data/run-logs", COMPANY, AGENT, `${RUN}.pod/output.ndjson`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, output);
  const outputSha256 = createHash("sha256").update(output).digest("hex");
  const end = endRecord({ bytes: output.length, written: output.length, outputSha256, ...change });
  writeFileSync(`${path}.meta`, metaFile(RUN, [end]));
  return { path, place: { data, instance: "default", secret: SECRET } };
}

const recorded = (name: (typeof cliNames)[number]): Buffer =>
  readFileSync(new URL(`../../../${adapters[name].folder}/fixtures/tool-call.ndjson`, import.meta.url));

test.each(cliNames)("a run of %s: its end, its tokens and its output are listed, and its cost is reported once", async (name) => {
  adapterType = `${name}_k8s`;
  usageJson = { provider: "acme", biller: "acme-biller", billingType: "metered_api", model: "m" };
  const { path, place } = volume(recorded(name));
  const found = (await find(place))!;
  expect(found).toMatchObject({ issue: { identifier: "ACME-9" }, end: { exitCode: 0 }, output: path, usage: { genuine: true } });
  expect(found.usage.inputTokens + found.usage.cachedInputTokens).toBeGreaterThan(0);
  expect(found.usage.outputTokens).toBeGreaterThan(0);

  expect(await readMark(found.mark)).toBeNull();
  expect(await reportCost(host(), found, false)).toMatchObject({ isReported: true });
  expect(await reportCost(host(), found, false)).toMatchObject({
    isReported: true,
    text: expect.stringMatching(/reported to the host at 20/),
  });
  const { inputTokens, outputTokens, cachedInputTokens, costUsd } = found.usage;
  expect(events).toEqual([
    {
      agentId: AGENT,
      issueId: ISSUE,
      projectId: "project-1",
      heartbeatRunId: RUN,
      provider: "acme",
      biller: "acme-biller",
      billingType: "metered_api",
      costStatus: costUsd === null ? "unpriced" : "reported",
      model: expect.any(String),
      inputTokens,
      cachedInputTokens,
      outputTokens,
      costCents: Math.round((costUsd ?? 0) * 100),
      occurredAt: "2026-01-01T00:58:59.000Z",
    },
  ]);
  const lines = unattendedListing([{ run, one: found, cost: await readMark(found.mark), problem: null }]).join("\n");
  expect(lines).toMatch(/ACME-9 {2}0b5b9c1e {2}the agent exited with code 0 at 2026-01-01T00:58:59Z;/);
  expect(lines.replace(/\s+/g, " ")).toContain("what it did: paperclip-k8s transcript 0b5b9c1e");
  const printed: string[] = [];
  const terminal = { out: (line: string) => printed.push(line), err: (line: string) => printed.push(line), env: {} } as never as Terminal;
  expect(await runCommand(["transcript", RUN.slice(0, 8), "--data", place.data], terminal)).toBe(0);
  expect(printed[0]).toBe(path);
  expect(printed.length).toBeGreaterThan(4);
  expect(printed.slice(1).join("\n")).not.toContain("{");
  expect(await runCommand(["transcript", "unknown-run", "--data", place.data], terminal)).toBe(1);
  expect(printed.at(-1)).toContain("no output of run unknown-run is kept");
});

const find = (place: Omit<Parameters<typeof readUnattended>[2], "folders">) =>
  readUnattended(host(), run, { ...place, folders: new Map() });

test("what a subscription includes costs no cents, and an unknown billing is called unknown", async () => {
  usageJson = { provider: "acme", billingType: "subscription_included" };
  const found = (await find(volume(recorded(cliNames[0])).place))!;
  await reportCost(host(), { ...found, usage: { ...found.usage, costUsd: 2.50499 } }, false);
  rmSync(found.mark);
  usageJson = null;
  await reportCost(host(), { ...found, usage: { ...found.usage, costUsd: 2.50499 } }, false);
  expect(events).toMatchObject([
    { costCents: 0, billingType: "subscription_included" },
    { costCents: 250, billingType: "unknown" },
  ]);
});

test("a report that the host refuses may be made again; one without an answer is not repeated", async () => {
  const found = (await find(volume(recorded(cliNames[0])).place))!;
  refusal = 422;
  expect(await reportCost(host(), found, false)).toMatchObject({ isReported: false });
  expect(existsSync(found.mark)).toBe(false);
  refusal = null;
  const nobody = new HostApi("http://127.0.0.1:9", null, 1000);
  const billing = { get: (path: string) => host().get(path), post: (path: string, body: unknown) => nobody.post(path, body) } as HostApi;
  expect(await reportCost(billing, found, false)).toMatchObject({ isReported: false });
  expect(await reportCost(host(), found, false)).toMatchObject({
    isReported: false,
    text: expect.stringMatching(/a report was begun at .* remove/),
  });
  expect(events).toEqual([]);
});

test.each([500, 502, 408, 200])("after HTTP %i without a usable answer the cost may be booked: it is not reported again", async (code) => {
  const found = (await find(volume(recorded(cliNames[0])).place))!;
  const answers = createServer((_, response) => response.writeHead(code).end("<html>")).listen(0, "127.0.0.1");
  onTestFinished(() => void answers.close());
  await new Promise((resolve) => answers.once("listening", resolve));
  const proxy = new HostApi(`http://127.0.0.1:${(answers.address() as AddressInfo).port}`, null, 30_000);
  const behind = { get: (path: string) => host().get(path), post: (path: string, body: unknown) => proxy.post(path, body) } as HostApi;
  const text = expect.stringMatching(/^cost not reported: .*; the host may have booked it all the same$/);
  expect(await reportCost(behind, found, false)).toMatchObject({ isReported: false, text });
  expect(await reportCost(host(), found, false)).toMatchObject({ isReported: false, text: expect.stringContaining("a report was begun") });
  expect(events).toEqual([]);
});

test("a mark that was cut off is still one", async () => {
  const found = (await find(volume(recorded(cliNames[0])).place))!;
  writeFileSync(found.mark, '{"state":"repor');
  expect(await reportCost(host(), found, false)).toMatchObject({ text: expect.stringContaining("begun at an unknown time") });
  expect(events).toEqual([]);
});

describe("a round", () => {
  const look = (place: ReturnType<typeof volume>["place"], change: Partial<Parameters<typeof lookAtUnattended>[2]> = {}, runs = [run]) =>
    lookAtUnattended(host(), runs, { ...place, jobs: [], isReporting: true, memory: new Memory(), ...change });

  test("while a Job of the run is there, the run is listed, but a later run may report its cost", async () => {
    const { place } = volume(recorded(cliNames[0]));
    const state = { kind: "never ran", why: "" } as const;
    const rows = await look(place, { jobs: [{ runIds: [RUN], state }] });
    expect(unattendedListing(rows).join(" ").replace(/\s+/g, " ")).toContain("cost not reported: its Job is still there");
    expect(events).toEqual([]);
    expect(await look(place)).toMatchObject([{ cost: { isReported: true } }]);
    expect(events).toHaveLength(1);
  });

  test("what cannot be read or written is said in the run's row", async () => {
    const { place } = volume(recorded(cliNames[0]));
    const memory = new Memory();
    const { mark } = (await find(place))!;
    mkdirSync(mark);
    const unread = { one: { issue: { identifier: "ACME-9" } }, problem: expect.stringMatching(/cannot be read: EISDIR/) };
    expect(await look(place, { memory })).toMatchObject([unread]);
    rmSync(dirname(mark), { recursive: true });
    const unwritten = await look(place, { memory });
    expect(unwritten).toMatchObject([{ cost: null, problem: `${mark} cannot be written: ENOENT` }]);
    expect(unattendedListing(unwritten).join(" ").replace(/\s+/g, " ")).toContain("cannot be written: ENOENT; what it did");
    expect(events).toEqual([]);
  });

  test("an issue that the host fails to show is an error of its run", async () => {
    broken = "/issues/";
    const rows = await look(volume(recorded(cliNames[0])).place);
    expect(unattendedListing(rows).join(" ").replace(/\s+/g, " ")).toMatch(/- 0b5b9c1e could not be looked at: GET .* HTTP 500/);
  });

  test("an error that reads like a lost result is one only if the host has no result of the run", async () => {
    const { place } = volume(recorded(cliNames[0]));
    const failed = { ...run, errorCode: "adapter_failed", mayHaveLostResult: true };
    const error = 'Failed query: insert into "workspace_operations" ("id") values ($1)';
    record = { status: "failed", errorCode: "adapter_failed", error, resultJson: { outcome: "exited" } };
    const memory = new Memory();
    expect(await look(place, { memory }, [failed])).toEqual([]);
    expect([...memory.stored]).toEqual([RUN]);
    record = { ...record, resultJson: null };
    expect(await look(place, {}, [failed])).toMatchObject([{ cost: { isReported: true } }]);
    expect(await look(place, { memory }, [failed])).toEqual([]);
  });
});

test("an output that is not the run's own is listed, but nothing is reported of it", async () => {
  const { place } = volume(recorded(cliNames[0]), { outputSha256: "0".repeat(64) });
  const found = (await find(place))!;
  expect(found.usage.genuine).toBe(false);
  expect(await reportCost(host(), found, false)).toMatchObject({
    isReported: false,
    text: expect.stringContaining("its output is its own"),
  });
  expect(events).toEqual([]);
});

test("a link in place of the output is not followed", async () => {
  const { path, place } = volume(recorded(cliNames[0]));
  rmSync(path);
  symlinkSync("/etc/passwd", path);
  expect((await find(place))?.usage).toMatchObject({ genuine: false, inputTokens: 0 });
});

test("nothing is listed of a run whose issue is open, whose end nothing proves, or of another adapter", async () => {
  const { place } = volume(recorded(cliNames[0]));
  status = "blocked";
  expect(await find(place)).toBeNull();
  status = "done";
  expect(await find({ ...place, secret: null })).toBeNull();
  adapterType = "other";
  expect(await find(place)).toBeNull();
  adapterType = `${cliNames[0]}_k8s`;
  expect(await find({ ...place, data: null })).toBeNull();
  expect(await find(place)).not.toBeNull();
});
