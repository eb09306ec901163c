import { CATALOGUE } from "../../packages/paperclip/src/doctor/catalogue.ts";

/** The table of docs/test-environment.md. */
export function checkTable(): string {
  const rows = Object.entries(CATALOGUE).map(
    ([code, [meaning, todo]]) => `| \`${code}\` | ${meaning} | ${todo === "" ? "nothing: all is well" : todo} |`,
  );
  return ["| code | what it says | what to do |", "|---|---|---|", ...rows].join("\n");
}
