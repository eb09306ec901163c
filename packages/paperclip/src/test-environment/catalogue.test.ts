import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CATALOGUE } from "./catalogue.ts";

test("every check is made somewhere, and every one that can be bad says what to do", () => {
  const folder = new URL(".", import.meta.url);
  const sources = readdirSync(folder).filter((name) => name.endsWith(".ts") && !name.includes("catalogue") && !name.includes(".test."));
  const text = sources.map((name) => readFileSync(new URL(name, folder), "utf8")).join("\n");
  for (const code of Object.keys(CATALOGUE)) expect(text, code).toContain(`"${code}"`);
  const bad = [...text.matchAll(/\["?(?:warn|error)", "(\w+)"|check\("(?:warn|error)", "(\w+)"/g)].map(
    ([, a, b]) => (a ?? b) as keyof typeof CATALOGUE,
  );
  expect(bad.length).toBeGreaterThan(20);
  for (const code of bad) expect(CATALOGUE[code][1], code).toMatch(/\w{3}/);
});
