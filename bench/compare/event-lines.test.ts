import { expect, test } from "vitest";
import { cliNames, loadKits } from "../../packages/adapters.ts";
import { loadRecording } from "../../testbed/suite/src/recorded-cli.ts";
import { eventLinesOf } from "./event-lines.ts";

const kits = await loadKits();

test.each(cliNames)("a recorded turn of %s is taken apart at what the model says, and can be put together again", (cli) => {
  const { lines } = loadRecording(cli, "success");
  const { first, text, said, last } = eventLinesOf(lines, kits[cli].cli.createParser());
  expect([...first, text, ...last]).toEqual(lines);
  expect(JSON.stringify(JSON.parse(text))).toContain(JSON.stringify(said));
  expect(last.length).toBeGreaterThan(0);
});

test("a recording without any text is refused", () => {
  expect(() => eventLinesOf(["{}"], { push: () => [] })).toThrow("recording");
});
