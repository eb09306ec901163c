import { afterEach, beforeEach, expect, test } from "vitest";
import { createEngine } from "./engine.ts";
import { pause, TestApi } from "./kube/testing/test-api.ts";
import { exampleRequest } from "./manifest/testing/example-request.ts";

let api: TestApi;
beforeEach(async () => {
  api = await TestApi.start();
});
afterEach(() => api.stop());

test("a volume that is none is refused before anything is watched", async () => {
  const { output } = exampleRequest();
  const request = exampleRequest({ output: { ...output, root: "not/absolute" } });
  const io = { signal: new AbortController().signal, onOutput: async () => {}, onStderr: async () => {}, onStatus: () => {} };
  await expect(createEngine().run(request, { kubeconfig: api.kubeconfig() }, io)).rejects.toThrow("not an absolute path");
  await pause(200);
  expect(api.requests("GET")).toEqual([]);
});
