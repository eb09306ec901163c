import { expect, test } from "vitest";
import type { CliTurn } from "../agent-cli/agent-cli.ts";
import { parseConfig } from "../settings/parse.ts";
import { exampleInputs } from "../testing/example-attempt.ts";
import { exampleCli } from "../testing/example-cli.ts";
import { hostContext } from "../testing/host-context.ts";
import { firstStart, prepareAttempt } from "./attempt.ts";

async function turnWith(from: readonly object[]): Promise<CliTurn> {
  const turns: CliTurn[] = [];
  const plan = (turn: CliTurn) => {
    turns.push(turn);
    return Promise.resolve({ argv: ["node"] as const, plainEnv: {}, secretEnv: {}, notes: [] });
  };
  const { inherited } = exampleInputs();
  const inputs = exampleInputs({
    ctx: hostContext({ context: { paperclipIssue: { title: "Fix it" } } }).ctx,
    cli: { ...exampleCli, plan },
    config: parseConfig({ dataPath: "/data" }, {}, exampleCli),
    inherited: {
      ...inherited,
      claim: { name: "c", mountPath: "/data", subPath: null },
      env: { ...inherited.env, from, hidden: [] } as never,
    },
    serverEnv: { SERVER_KEY: "k" },
  });
  const { prompt } = await prepareAttempt(inputs, firstStart(null, null));
  expect(turns[0]?.promptBytes).toBe(Buffer.byteLength(prompt.text));
  return turns[0]!;
}

test("a CLI's plan knows the issue's title, and which names a Secret taken over whole may bring", async () => {
  expect(await turnWith([])).toMatchObject({ title: "Fix it", maybeSet: new Set() });
  expect((await turnWith([{ secret: "whole" }])).maybeSet).toEqual(new Set(["SERVER_KEY"]));
});
