import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { adapters } from "../../packages/adapters.ts";

/** Codes of checks have a page of their own. */
const LEFT_OUT = /\.test\.ts$|^doctor\//;

/** A result's code, a fault's code, a table of codes, and whatever bears our prefix. */
const PLACES = [/\b(?:errorCode|code): ([^,}\n]+)/g, /\b[A-Z_]*CODES\b[^=\n]*= \{([^}]*)\}/g, /("k8s_[a-z_]+")/g];

/** Every error code a run can end with, as the source has them, sorted. */
export function errorCodes(root: string): string[] {
  const codes = new Set<string>();
  for (const name of ["paperclip", ...Object.values(adapters).map(({ folder }) => folder)]) {
    const folder = join(root, "packages", name, "src");
    for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      if (!file.endsWith(".ts") || LEFT_OUT.test(file)) continue;
      for (const code of codesIn(readFileSync(join(folder, file), "utf8"))) codes.add(code);
    }
  }
  return [...codes].sort();
}

/** Of a table only the values count: its keys are the engine's words. */
function codesIn(text: string): string[] {
  return PLACES.flatMap((place) => [...text.matchAll(place)]).flatMap(([, part = ""]) =>
    [...part.matchAll(/"([a-z][a-z0-9_]*)"(?!\s*:)/g)].map(([, code]) => code ?? ""),
  );
}
