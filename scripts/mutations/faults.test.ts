import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { DEFENCES } from "./defences.ts";
import { FAULTS } from "./faults.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

test.each([...FAULTS, ...DEFENCES])("the source still has the line of the fault: $what", ({ file, find, caughtBy }) => {
  expect(readFileSync(join(root, file), "utf8").split(find).length - 1, `${file}: ${find}`).toBe(1);
  for (const path of caughtBy) expect(existsSync(join(root, path)), path).toBe(true);
});
