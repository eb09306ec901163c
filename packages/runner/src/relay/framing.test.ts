import fc from "fast-check";
import { expect, test } from "vitest";
import { saysConflict } from "./conflict.ts";
import { Body, type Framing, requestFraming, responseFraming } from "./framing.ts";
import { type Header, Problem } from "./head.ts";
import type { Wire } from "./wire.ts";

/** What a body reads from: pieces, cut anywhere. */
function pieces(bytes: Buffer, cuts: readonly number[]): Pick<Wire, "read" | "unread"> {
  const edges = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  const chunks = edges.slice(1).map((edge, n) => bytes.subarray(edges[n], edge));
  return { read: async () => chunks.shift() ?? null, unread: (chunk) => void (chunk.length > 0 && chunks.unshift(chunk)) };
}

async function readAll(source: Pick<Wire, "read" | "unread">, framing: Framing): Promise<{ body: string; rest: string }> {
  const parts = await new Body(source as Wire, framing).readSome(Number.POSITIVE_INFINITY);
  const rest: Buffer[] = [];
  for (let chunk = await source.read(); chunk; chunk = await source.read()) rest.push(chunk);
  return { body: Buffer.concat(parts).toString("latin1"), rest: Buffer.concat(rest).toString("latin1") };
}

const cuts = fc.array(fc.nat(), { maxLength: 20 });
const parts = fc.array(fc.string({ minLength: 1, maxLength: 40 }), { maxLength: 5 });

test("a body in chunks ends where it ends, wherever it is cut", async () => {
  await fc.assert(
    fc.asyncProperty(parts, cuts, fc.boolean(), async (texts, at, trailer) => {
      const chunks = texts.map((text) => `${Buffer.byteLength(text, "latin1").toString(16)};x="1"\r\n${text}\r\n`);
      const body = `${chunks.join("")}0\r\n${trailer ? "X-Sum: 1\r\n" : ""}\r\n`;
      const source = pieces(Buffer.from(`${body}GET /next`, "latin1"), at);
      expect(await readAll(source, { kind: "chunked" })).toEqual({
        body: Buffer.from(body, "latin1").toString("latin1"),
        rest: "GET /next",
      });
      const [head, whole] = [{ first: "", headers: [["Transfer-Encoding", "chunked"]] as const }, Buffer.from(body, "latin1")];
      expect(await saysConflict(head, [whole], /^one two$/)).toBe(false);
    }),
  );
});

test("a body with a length ends where it ends, wherever it is cut", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), cuts, async (text, at) => {
      const bytes = Buffer.from(text);
      const source = pieces(Buffer.concat([bytes, Buffer.from("GET /next")]), at);
      expect(await readAll(source, { kind: "length", bytes: bytes.length })).toEqual({ body: bytes.toString("latin1"), rest: "GET /next" });
    }),
  );
});

test("a body that breaks off is no whole body", async () => {
  for (const [text, framing] of [
    ["abc", { kind: "length", bytes: 4 }],
    ["3\r\nabc\r\n", { kind: "chunked" }],
    ["3\r\nabc\r\n0\r\n", { kind: "chunked" }],
  ] as const)
    await expect(readAll(pieces(Buffer.from(text), []), framing)).rejects.toThrow("breaks off");
});

test.for([
  [
    [
      ["Content-Length", "1"],
      ["content-length", "2"],
    ],
  ],
  [[["Content-Length", "1, 1"]]],
  [[["Transfer-Encoding", "gzip, chunked"]]],
] as const)("a request of unclear length is refused: %j", ([headers]) => {
  expect(() => requestFraming({ first: "", headers: headers as unknown as Header[] })).toThrow(Problem);
});

test("an answer's length", () => {
  const head = (...headers: Header[]) => ({ first: "", headers });
  expect(responseFraming(head(), 200, "GET")).toEqual({ kind: "until-close" });
  expect(responseFraming(head(["Content-Length", "5"]), 200, "GET")).toEqual({ kind: "length", bytes: 5 });
  expect(responseFraming(head(["Content-Length", "5"]), 200, "HEAD")).toEqual({ kind: "length", bytes: 0 });
  expect(responseFraming(head(["Transfer-Encoding", "Chunked"]), 304, "GET")).toEqual({ kind: "length", bytes: 0 });
  expect(responseFraming(head(["Transfer-Encoding", "Chunked"], ["Content-Length", "5"]), 200, "GET")).toEqual({ kind: "chunked" });
});
