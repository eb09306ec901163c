// npm run demo: a real run of the real CLI on an embedded cluster, shown live.

import { agents, type DemoAgent } from "./agents.ts";
import { scenarios } from "./scenarios.ts";
import { createScreen } from "./screen.ts";
import { openStage, type Stage } from "./stage.ts";

const HELP = `Runs a real agent CLI through its adapter, on an embedded cluster with a scripted LLM.

  npm run demo                 ${scenarios[0]?.about}
${scenarios
  .filter((scenario) => scenario.flag !== null)
  .map((scenario) => `  npm run demo -- ${scenario.flag?.padEnd(12)} ${scenario.about}`)
  .join("\n")}
  npm run demo -- --all        all of them, one after the other
  npm run demo -- --agent NAME ${agents.map(({ name }) => name).join(" or ")}; ${agents[0].name} unless given, together with any of the above
  npm run demo -- --help       this text

Plain text when piped; NO_COLOR is respected. Nothing stays behind.`;

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    console.log(HELP);
    return 0;
  }
  const { agent, rest } = chooseAgent(args);
  const flags = new Set(rest);
  const all = flags.delete("--all");
  const chosen = scenarios.filter((scenario) => (all ? true : scenario.flag === null ? rest.length === 0 : flags.delete(scenario.flag)));
  if (agent === undefined || (flags.size > 0 && !all)) {
    console.error(`Unknown option: ${[...flags].join(" ") || args.join(" ")}\n\n${HELP}`);
    return 2;
  }
  const screen = createScreen(process.stdout, agent);
  let stage: Stage | null = null;
  try {
    screen.welcome();
    const begun = performance.now();
    stage = await openStage(agent);
    endOnSignal(stage);
    screen.ready(stage, performance.now() - begun);
    let good = true;
    for (const scenario of chosen) good = (await scenario.play(stage, screen)) && good;
    screen.goodbye(good);
    return good ? 0 : 1;
  } finally {
    await stage?.close();
  }
}

/** The agent that `--agent` names, and the other arguments. */
function chooseAgent(args: readonly string[]): { readonly agent: DemoAgent | undefined; readonly rest: readonly string[] } {
  const at = args.indexOf("--agent");
  if (at === -1) return { agent: agents[0], rest: args };
  return { agent: agents.find(({ name }) => name === args[at + 1]), rest: args.filter((_, index) => index !== at && index !== at + 1) };
}

/** Ctrl-C ends everything that was started, then the demo. */
function endOnSignal(stage: Stage): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void stage.close().finally(() => process.exit(signal === "SIGINT" ? 130 : 143)));
  }
}

process.exit(await main(process.argv.slice(2)));
