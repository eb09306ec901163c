import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { agentClis } from "../../../agent-clis.ts";
import { checkSettings } from "../../../paperclip/src/upgrade/check-settings.ts";
import { EARLIER_SETTINGS } from "../../../paperclip/src/upgrade/earlier-settings.ts";

// Whatever upgrade-check can say about a setting has a row in the upgrade guide.

const page = readFileSync(new URL("../../../../docs/upgrade.md", import.meta.url), "utf8");
const table = page.slice(page.indexOf("## What changed"), page.indexOf("## What upgrade-check prints"));
/** The first cell of each row. */
const subjects = table.split("\n").flatMap((line) => /^\| (.*?) \| /.exec(line)?.[1] ?? []);
const hasRow = (setting: string): boolean => subjects.some((subject) => subject.includes(`\`${setting}\``));
const clis = await Promise.all(Object.values(agentClis).map((load) => load()));

test("the table is read", () => {
  expect(subjects.length).toBeGreaterThan(40);
  expect(hasRow("no such setting")).toBe(false);
});

test("every rule about earlier settings has a row", () => {
  const rules = [...EARLIER_SETTINGS, ...clis.flatMap(({ settings }) => settings.earlier ?? [])];
  expect(rules.length).toBeGreaterThan(20);
  expect([...new Set(rules.map(({ setting }) => setting))].filter((setting) => !hasRow(setting))).toEqual([]);
});

test("every setting of the earlier forms that the built-in policy refuses has a row", () => {
  const control = "node-role.kubernetes.io/control-plane";
  const asked = {
    namespace: "other",
    serviceAccountName: "deployer",
    kubeconfig: "/etc/kube/config",
    labels: { app: "database" },
    nodeSelector: { [control]: "" },
    tolerations: [{ key: control, operator: "Exists" }],
    retainJobs: true,
  };
  for (const cli of clis) {
    const refused = checkSettings(cli, asked).filter(({ kind }) => kind === "refused");
    const settings = refused.map(({ setting }) => setting.replace(/\[.*/, ""));
    expect(settings.toSorted()).toEqual(Object.keys(asked).toSorted());
    expect(settings.filter((setting) => !hasRow(setting))).toEqual([]);
  }
});
