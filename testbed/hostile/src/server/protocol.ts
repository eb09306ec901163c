import type { ExecutionResult } from "@paperclip-k8s/paperclip";
import type { HostCall } from "@paperclip-k8s/paperclip/testing";

// Lines of JSON between the test and the server process.

/** Plain data only: what a host would hand over for one run. */
export type Call = Pick<HostCall, "agent" | "name" | "company" | "taskKey" | "session" | "config" | "context" | "task"> & {
  readonly runId: string;
  readonly token: string;
};

export type Command = { readonly do: "run"; readonly call: Call } | { readonly do: "cancel"; readonly runId: string };

export type News =
  | { readonly event: "ready" }
  | { readonly event: "log"; readonly runId: string; readonly stream: string; readonly chunk: string }
  | { readonly event: "prompt"; readonly runId: string; readonly text: string }
  | { readonly event: "result"; readonly runId: string; readonly result: ExecutionResult };
