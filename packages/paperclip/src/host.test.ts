import type * as host from "@paperclipai/adapter-utils";
import { expectTypeOf, test } from "vitest";
import type { EnvironmentTestResult, ExecutionContext, ExecutionResult, ServerAdapter, SessionCodec } from "./host.ts";

// Checked by the compiler: our restated types fit the host's own.
test("our types of the host fit its own", () => {
  expectTypeOf<host.AdapterExecutionContext>().toExtend<ExecutionContext>();
  expectTypeOf<ExecutionResult>().toExtend<host.AdapterExecutionResult>();
  expectTypeOf<EnvironmentTestResult>().toExtend<host.AdapterEnvironmentTestResult>();
  expectTypeOf<SessionCodec>().toExtend<host.AdapterSessionCodec>();
  expectTypeOf<ServerAdapter>().toExtend<host.ServerAdapterModule>();
});
