import { expect, test } from "vitest";
import { podGraceSec } from "./manifest/deadlines.ts";
import { buildSubmission } from "./manifest/submission.ts";
import { exampleRequest } from "./manifest/testing/example-request.ts";
import { timeoutsFor } from "./timeouts.ts";

test.each([0, 5, 30, 600])(
  "a cancel is waited for until after the kubelet has killed the pod, and within the host's minute: grace %s s",
  (graceSec) => {
    const example = exampleRequest();
    const request = { ...example, limits: { ...example.limits, graceSec } };
    const { cancel } = timeoutsFor(request, buildSubmission(request, "0123456789abcdef01234567", "runner"));
    expect(cancel).toBeGreaterThan((podGraceSec(request.limits) + 3) * 1000);
    expect(cancel).toBeLessThan(55_000);
  },
);
