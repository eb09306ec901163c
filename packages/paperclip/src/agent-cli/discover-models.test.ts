import { expect, test } from "vitest";
import { createModelDiscovery } from "./discover-models.ts";

test("known models first and with their own labels, then what is reported, asked for once a minute", async () => {
  let asked = 0;
  let now = 0;
  const report = async (place: string) => {
    asked += 1;
    return [
      { id: "b", label: "reported" },
      { id: place, label: "New" },
    ];
  };
  const list = createModelDiscovery(
    (_: string) => [{ id: "b", label: "B" }],
    report,
    () => now,
  );
  const wanted = [
    { id: "b", label: "B" },
    { id: "here", label: "New" },
  ];
  expect(await list("here")).toEqual(wanted);
  now = 59_999;
  expect(await list("here")).toEqual(wanted);
  expect(asked).toBe(1);
  now = 60_000;
  await list("here");
  expect(asked).toBe(2);
});

test("a report that fails leaves the known ones", async () => {
  const list = createModelDiscovery(
    () => [{ id: "b", label: "B" }],
    () => Promise.reject(new Error("no network")),
  );
  expect(await list()).toEqual([{ id: "b", label: "B" }]);
});
