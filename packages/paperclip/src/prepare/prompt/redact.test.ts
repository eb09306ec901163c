import fc from "fast-check";
import { expect, test } from "vitest";
import { withoutSecrets, withoutTokens } from "./redact.ts";

const jwt = `eyJhbGciOiJIUzI1NiJ9.${"a".repeat(20)}.${"b".repeat(20)}`;

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ["carriers of tokens", { a: { paperclipManagedMcp: { x: 1 } }, runtimeTools: 1 }, { a: {} }],
  [
    "names",
    { list: [{ apiKey: "k", password: "p", authorization: "Bearer x" }] },
    { list: [{ apiKey: "***REDACTED***", password: "***REDACTED***", authorization: "***REDACTED***" }] },
  ],
  [
    "counts and lists of names stay",
    { inputTokens: 3, paperclipSecrets: { manifest: [{ name: "KEY" }] }, token: "", taskKey: "t" },
    { inputTokens: 3, paperclipSecrets: { manifest: [{ name: "KEY" }] }, token: "", taskKey: "t" },
  ],
  ["known values", { text: "see secret-value-1." }, { text: "see ***REDACTED***." }],
  [
    "shapes",
    { text: `${jwt}, sk-${"a".repeat(20)} and ghp_${"a".repeat(36)}` },
    { text: "***REDACTED***, ***REDACTED*** and ***REDACTED***" },
  ],
  [
    "URLs",
    { a: "https://tok@x.io/y", b: "postgres://u:p@db/x", c: "ssh://git@x.io/y", d: "https://x.io/a@b" },
    { a: "https://***REDACTED***@x.io/y", b: "postgres://u:***REDACTED***@db/x", c: "ssh://git@x.io/y", d: "https://x.io/a@b" },
  ],
])("no secret is shown: %s", (_, value, shown) => {
  const before = JSON.stringify(value);
  expect(withoutTokens(value, ["secret-value-1", "1"])).toEqual(shown);
  expect(JSON.stringify(value)).toBe(before);
});

test.each<[string, string[], string[]]>([
  ["the value behind a name", ["cli", "--api-key", "abc", "run"], ["cli", "--api-key", "***REDACTED***", "run"]],
  ["the value in the same argument", ["--auth-token=abc", "--model=m"], ["--auth-token=***REDACTED***", "--model=m"]],
  ["settings in one argument", ["-c", "providers.acme.apiKey=abc"], ["-c", "providers.acme.apiKey=***REDACTED***"]],
  ["a header", ["--header", "Authorization: Bearer abc"], ["--header", "Authorization: ***REDACTED***"]],
  ["JSON", ["--config", '{"secret":"abc","n":1}'], ["--config", '{"secret":"***REDACTED***","n":1}']],
  ["shapes and URLs", [jwt, "https://u:p@x.io/y"], ["***REDACTED***", "https://***REDACTED***@x.io/y"]],
  ["an option is no value", ["--password", "--verbose"], ["--password", "--verbose"]],
  [
    "counts and other names",
    ["--max-tokens", "9", "--monkey", "see", "--keyboard=us"],
    ["--max-tokens", "9", "--monkey", "see", "--keyboard=us"],
  ],
])("no secret is shown in an argument: %s", (_, argv, shown) => {
  expect(withoutSecrets(argv)).toEqual(shown);
});

test("data that contains itself comes to an end", () => {
  const loop: Record<string, unknown> = { name: "x" };
  loop.self = loop;
  expect(JSON.stringify(withoutTokens(loop)).length).toBeLessThan(1000);
});

test("what is masked: every JWT, key and URL, wherever in a text it begins", () => {
  const shape = /\b(eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+|sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|xox[abprs]-[\w-]{10,})/g;
  const eight = "a2345678";
  const part = fc.constantFrom(
    "eyJ",
    "-",
    ".",
    "_",
    "sk-",
    "ghp_",
    "github_pat_",
    "xoxb-",
    eight,
    eight + eight,
    eight + eight + eight,
    " ",
    "é",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
      const text = parts.join("");
      expect(withoutTokens({ text }).text).toBe(text.replace(shape, "***REDACTED***"));
    }),
    { numRuns: 5000 },
  );
});

test("what is masked in URLs is no less than by their whole form", () => {
  const url = /\b(?:https?:\/\/[^\s/@]+|[a-z][a-z0-9+.-]*:\/\/[^\s/@:]*:[^\s/@]+)@/i;
  const part = fc.constantFrom("http", "https", "://", ":", "@", "/", ".", "-", "+", "_", "u", "Pw", "1", " ");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 14 }), (parts) => {
      const shown = String(withoutTokens({ text: parts.join("") }).text);
      expect(shown.replaceAll("***REDACTED***@", "/")).not.toMatch(url);
    }),
    { numRuns: 5000 },
  );
});

const jwtLike = "eyJ-".repeat(3);
test.each([
  ...[
    "eyJ-",
    "eyJ.",
    `${jwtLike}.`,
    `${jwtLike}..`,
    `${jwtLike}.${jwtLike} `,
    "-eyJaaaaaaaa",
    "sk-",
    "ghp_",
    "xoxb-",
    "-sk-eyJ",
    "github_pat_-",
  ],
  ...["a.", "a-", "a+", "a:", "://", "a://", "a://b:", "a://:", "http://", "https:", "http://a:", "@", "a@", "/", " ", "-"],
])("a text of a megabyte does not keep the server busy: %j", (piece) => {
  const text = piece.repeat(1_000_000 / piece.length);
  for (const end of ["", "!", "@", ".aaaaaaaa", ".aaaaaaaa.!"]) expect(withoutTokens({ text: text + end })).toHaveProperty("text");
  expect(withoutSecrets([text])).toHaveLength(1);
});
