import { expect, test } from "vitest";
import { withoutEntries } from "../../../runner/src/seed/leave-out.ts";
import { opencode } from "../agent-cli.ts";
import { earlierGrants } from "./earlier-seeds.ts";

const without = (config: object) => JSON.parse(withoutEntries(JSON.stringify(config), earlierGrants).text ?? "null");

test("the grants that earlier adapters wrote are not copied into a run's home", () => {
  expect(without({ permission: { external_directory: "allow" } })).toEqual({});
  const denied = { env: "deny", "cat /proc/*/environ": "deny" };
  const later = { snapshot: false, permission: { external_directory: "allow", bash: { "*": "allow", ...denied } } };
  expect(without(later)).toEqual({ snapshot: false, permission: { bash: denied } });
  expect(opencode.state?.seeds.find(({ path }) => path === ".config/opencode")?.without).toBe(earlierGrants);
});

test("what a person wrote stays", () => {
  for (const permission of ["allow", { external_directory: "ask" }, { edit: "allow", bash: "allow" }])
    expect(without({ permission })).toBeNull();
});
