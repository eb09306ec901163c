import { afterEach, expect, test, vi } from "vitest";
import type { RuntimeEvent } from "../host/types.ts";
import { hostContext } from "../testing/host-context.ts";
import { createProgress } from "./progress.ts";

afterEach(() => void vi.useRealTimers());

function open() {
  const shown: string[] = [];
  const events: RuntimeEvent[] = [];
  const change = {
    onRuntimeProgress: ({ phase, message }: { phase: string; message: string }) => void shown.push(`${phase} ${message}`),
    onEvent: async (event: RuntimeEvent) => {
      events.push(event);
      throw new Error("the host failed");
    },
  };
  const progress = createProgress(hostContext({ change }).ctx);
  const shownNow = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return shown.splice(0);
  };
  return { progress, events, shownNow };
}

test("the host is shown the start, the end and a silence, and every warning as an event, whatever the lines say", async () => {
  const { progress, events, shownNow } = open();
  progress.status({ level: "info", text: "CLI over, or so it seems" });
  progress.status({ level: "info", text: "it runs", cli: "started" });
  progress.status({ level: "warning", text: "CLI over" });
  progress.status({ level: "info", text: "no output for 30 s", silence: true });
  progress.status({ level: "info", text: "x".repeat(200), cli: "ended" });
  progress.status({ level: "info", text: "session saved" });
  expect(await shownNow()).toEqual([
    "adapter_startup CLI over, or so it seems",
    "adapter_startup it runs",
    "run_activity no output for 30 s",
    `finalize ${"x".repeat(180)}`,
  ]);
  expect(events).toEqual([{ eventType: "k8s.warning", stream: "system", level: "warn", message: "CLI over" }]);
});

test("while it works, its latest step is shown: the first at once, later ones now and then, none after its end", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { progress, shownNow } = open();
  progress.status({ level: "info", text: "it runs", cli: "started" });
  progress.transcript(["◆ session 1", "▸ bash  ls", "✓ a.txt"]);
  expect(await shownNow()).toEqual(["adapter_startup it runs", "run_activity ▸ bash  ls"]);
  for (let step = 0; step < 1000; step++) progress.transcript([`▸ bash  step ${step}`, "✓ done", "[paperclip] not a step"]);
  progress.transcript(["■ stop"]);
  expect(await shownNow()).toEqual([]);
  vi.advanceTimersByTime(60_000);
  progress.status({ level: "info", text: "no output for 90 s", silence: true });
  expect(await shownNow()).toEqual(["run_activity ▸ bash  step 999", "run_activity no output for 90 s · ▸ bash  step 999"]);
  progress.transcript(["✓ done"]);
  expect(await shownNow()).toEqual(["run_activity ▸ bash  step 999"]);
  vi.advanceTimersByTime(60_000);
  progress.transcript([`● ${"x".repeat(1000)}`, "│ more"]);
  expect(await shownNow()).toEqual([`run_activity ● ${"x".repeat(178)}`]);
  progress.transcript(["▸ bash  the last"]);
  progress.status({ level: "info", text: "CLI ended", cli: "ended" });
  vi.advanceTimersByTime(60_000);
  expect(await shownNow()).toEqual(["finalize CLI ended"]);
});
