import { createEngine } from "@paperclip-k8s/engine";
import { createAdapter } from "@paperclip-k8s/paperclip";
import { hostContext } from "@paperclip-k8s/paperclip/testing";
import { exampleCli } from "@paperclip-k8s/paperclip/testing/example-cli";
import { silentReport } from "@paperclip-k8s/paperclip/testing/silent-report";
import { TEST_POLICY } from "@paperclip-k8s/paperclip/testing/test-policy";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bed, settingsFor, startBed } from "./bed.ts";
import { gatedScript } from "./run.ts";
import { createTestClock } from "./test-clock.ts";

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.stop());

/** A run whose CLI writes one line and then nothing for ten minutes. */
async function silentRun(change: Parameters<typeof hostContext>[0] & object) {
  const { script, release } = gatedScript(bed);
  const clock = createTestClock();
  const shown: string[] = [];
  let heard = (): void => {};
  const first = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const parser = {
    push: (text: string) => {
      heard();
      return [{ kind: "other", text }] as const;
    },
    report: () => ({ ...silentReport, text: "done", outputTokens: 1, finished: true, events: 1 }),
    fault: () => null,
  };
  const plan = () => ({ argv: ["node", "-e", script] as const, plainEnv: {}, secretEnv: {}, notes: [] });
  const adapter = createAdapter(
    { ...exampleCli, state: undefined, plan, createParser: () => parser },
    { engine: createEngine({ clock }), serverEnv: TEST_POLICY },
  );
  const host = hostContext({
    ...change,
    config: settingsFor(bed),
    change: { onRuntimeProgress: ({ message }) => void shown.push(message), ...change.change },
  });
  const done = adapter.execute(host.ctx);
  await first;
  await clock.advance(600_000);
  await release();
  expect(await done, host.log()).toMatchObject({ exitCode: 0 });
  return { log: host.log(), shown: shown.join("\n") };
}

test("a host that watches silence itself is shown that the CLI is silent, and its log has no line that would hide it", async () => {
  const { log, shown } = await silentRun({});
  expect(shown).toMatch(/no output for \d+ min/);
  expect(log).not.toContain("no output for");
});

test("Paperclip 2026.824 gives up other servers' runs without output, so its log has a line now and then", async () => {
  const { log, shown } = await silentRun({ change: { onCancellationReady: undefined, signal: undefined } });
  expect(log.match(/no output for/g)?.length).toBeGreaterThan(5);
  expect(shown).toMatch(/no output for \d+ min/);
});
