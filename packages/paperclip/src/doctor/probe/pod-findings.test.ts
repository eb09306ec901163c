import { expect, test } from "vitest";
import { podFindings } from "./pod-findings.ts";

const at = { apiUrl: "http://host:3100", toolsNote: null };
const codes = (...found: [check: string, ok: boolean][]) =>
  podFindings(
    found.map(([check, ok]) => ({ check, ok, detail: "x" })),
    at,
  ).map(({ level, code }) => `${level} ${code}`);

test("what is well comes in a fixed order, whatever came first; folders that are fine are not mentioned", () => {
  expect(codes(["url", true], ["folder:home", true], ["cli", true], ["runtime", true])).toEqual([
    "info runtime_found",
    "info cli_found",
    "info host_reachable",
  ]);
});

test("what keeps agents from working is an error, what may be meant a warning", () => {
  expect(codes(["cli", false], ["folder:home", false], ["folder:temp", false], ["folder:work", false], ["url", false])).toEqual([
    "error cli_missing",
    "error home_unwritable",
    "error home_unwritable",
    "warn workspace_unwritable",
    "warn host_unreachable",
  ]);
});

test("no address of the host is a warning of its own; unknown findings are left out", () => {
  const found = podFindings([{ check: "weather", ok: false, detail: "rain" }], { apiUrl: null, toolsNote: null });
  expect(found.map(({ code }) => code)).toEqual(["host_unknown"]);
});

test("it says first where Node and CLI come from, and does not call them the image's", () => {
  const found = podFindings([{ check: "runtime", ok: true, detail: "node v24" }], { ...at, toolsNote: "from tools image t:1" });
  expect(found.map(({ code, message }) => `${code} ${message}`)).toEqual([
    "tools_used From tools image t:1.",
    "runtime_found Runtime: node v24.",
  ]);
});
