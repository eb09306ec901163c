// npm run demo: a real run of the real CLI on an embedded cluster, shown live.

import { scenarios } from "./scenarios.ts";
import { createScreen } from "./screen.ts";
import { openStage, type Stage } from "./stage.ts";

const HELP = `Runs the real OpenCode CLI through the opencode_k8s adapter, on an embedded cluster with a scripted LLM.

  npm run demo                 ${scenarios[0]?.about}
${scenarios
  .filter((scenario) => scenario.flag !== null)
  .map((scenario) => `  npm run demo -- ${scenario.flag?.padEnd(12)} ${scenario.about}`)
  .join("\n")}
  npm run demo -- --all        all of them, one after the other
  npm run demo -- --help       this text

Plain text when piped; NO_COLOR is respected. Nothing stays behind.`;

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    console.log(HELP);
    return 0;
  }
  const flags = new Set(args);
  const all = flags.delete("--all");
  const chosen = scenarios.filter((scenario) => (all ? true : scenario.flag === null ? args.length === 0 : flags.delete(scenario.flag)));
  if (flags.size > 0 && !all) {
    console.error(`Unknown option: ${[...flags].join(" ")}\n\n${HELP}`);
    return 2;
  }
  const screen = createScreen(process.stdout);
  let stage: Stage | null = null;
  try {
    screen.welcome();
    const begun = performance.now();
    stage = await openStage();
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

/** Ctrl-C ends everything that was started, then the demo. */
function endOnSignal(stage: Stage): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void stage.close().finally(() => process.exit(signal === "SIGINT" ? 130 : 143)));
  }
}

process.exit(await main(process.argv.slice(2)));
