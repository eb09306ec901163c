import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./sources.ts";

/** Words that this project once used in a sense of its own; the glossary of CONTRIBUTING has the field's words for them. */
const REPLACED = [
  /\b(judge)?holders?\b/i,
  /\bverdicts?\b/i,
  /\brivals?\b/i,
  /\bkin\b/,
  /\btryOn\b|\bwithdrawLate\b|\bpersist\(/,
  /\bpatien(ce|tly)\b/i,
  /\bsight\b/i,
  /\b(go|goes|is|are) blind\b|\bblind:/i,
  /\bdoomed\b/i,
  /\b(narrator|teller|told|tellJob)\b/i,
  /\bgroundMark\b|\bsessionGround\b/,
  /\b(knock|knocked|seeOff|openDoor|attend)\b/,
  /\b(mend|mended|mends|spoilt|courtesy|withheld)\b/i,
  /\bobey\w*\b/i,
];

const folders = ["packages", "testbed", "bench", "demo", "scripts", "docs"];

/** The upgrade page quotes former names. */
test("no file uses a word that was replaced", () => {
  const files = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`),
  );
  const read = [...files, "README.md", "CONTRIBUTING.md"].filter(
    (file) =>
      /\.(ts|md)$/.test(file) && !/node_modules|\/dist\/|\/generated\/|\/fixtures\/|scripts\/rules\/words|docs\/upgrade\.md/.test(file),
  );
  expect(read.length).toBeGreaterThan(500);
  const found = read.flatMap((file) =>
    readFileSync(join(ROOT, file), "utf8")
      .split("\n")
      .flatMap((line, index) => REPLACED.filter((word) => word.test(line)).map((word) => `${file}:${index + 1}: ${word.exec(line)?.[0]}`)),
  );
  expect(found).toEqual([]);
});
