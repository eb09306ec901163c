import { expect, test } from "vitest";
import type { RuntimeEvent } from "../host/types.ts";
import { hostContext } from "../testing/host-context.ts";
import { createProgress } from "./progress.ts";

test("the host is shown the start, the end and a silence, and every warning as an event, whatever the lines say", async () => {
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
  progress({ level: "info", text: "CLI over, or so it seems" });
  progress({ level: "info", text: "it runs", cli: "started" });
  progress({ level: "warning", text: "CLI over" });
  progress({ level: "info", text: "no output for 30 s", silence: true });
  progress({ level: "info", text: "x".repeat(200), cli: "ended" });
  await new Promise((resolve) => setImmediate(resolve));
  expect(shown).toEqual([
    "adapter_startup CLI over, or so it seems",
    "adapter_startup it runs",
    "adapter_startup no output for 30 s",
    `finalize ${"x".repeat(180)}`,
  ]);
  expect(events).toEqual([{ eventType: "k8s.warning", stream: "system", level: "warn", message: "CLI over" }]);
});
