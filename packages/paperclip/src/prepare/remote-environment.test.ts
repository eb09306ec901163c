import { expect, test } from "vitest";
import type { ExecutionContext } from "../host/types.ts";
import { refuseRemote } from "./remote-environment.ts";

const refuse = (call: object) => () => refuseRemote(call as unknown as ExecutionContext);

test.each([
  { executionTarget: { kind: "remote", transport: "ssh" } },
  { executionTarget: { kind: "one of a later host" } },
  { executionTarget: null, executionTransport: { remoteExecution: { host: "farm", remoteCwd: "/work" } } },
  { executionTarget: { kind: "local" }, executionTransport: { remoteExecution: { host: "farm" } } },
])("another place than the server, refused by its name: %j", (call) => {
  const context = { paperclipEnvironment: { name: "Build farm", driver: "ssh" } };
  expect(refuse({ ...call, context })).toThrow('in the environment "Build farm" (ssh)');
  expect(refuse(call)).toThrow('in the environment "remote"');
});

test.each([{}, { executionTarget: null }, { executionTarget: { kind: "local" }, executionTransport: { remoteExecution: null } }])(
  "the server's own place: %j",
  (call) => expect(refuse(call)).not.toThrow(),
);
