import { expect, test } from "vitest";
import { outcomesTable, withTable } from "./outcome-table.ts";

const HEAD = outcomesTable([]);
const row = (name: string, text: string) => `| ${name} | ${text} | | | | | |`;
const PAGE = "# Ends\n\n## Paperclip 1\n\nOld.\n\n| how | old |\n|---|---|\n| a | b |\n\n## Paperclip 2\n\nKept.\n";

test("new rows take the place of old ones, others stay, in the order of the ends; another release is left alone", () => {
  const once = withTable(PAGE, "1", `${HEAD}\n${row("b", "1")}\n${row("c", "1")}`, ["a", "b", "c"]);
  expect(once).toContain(`${HEAD}\n${row("b", "1")}\n${row("c", "1")}\n\n## Paperclip 2\n\nKept.\n`);
  expect(once).toMatch(/## Paperclip 1\n\nLast observed on \d{4}-\d\d-\d\d\.\n\n\| how/);
  const twice = withTable(once, "1", `${HEAD}\n${row("b", "2")}\n${row("a", "2")}`, ["a", "b", "c"]);
  expect(twice).toContain(`${HEAD}\n${row("a", "2")}\n${row("b", "2")}\n${row("c", "1")}\n\n## Paperclip 2`);
  expect(withTable(twice, "2", HEAD, [])).toContain(row("c", "1"));
  expect(() => withTable(PAGE, "3", HEAD, [])).toThrow('"## Paperclip 3"');
});
