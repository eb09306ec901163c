import type { DemoAgent } from "./agents.ts";
import type { Screen } from "./scenarios.ts";
import type { Stage } from "./stage.ts";

const WIDTH = 100;
const PHASES = [
  ["admitted", "admitted"],
  ["accepted", "Job accepted"],
  ["scheduled", "pod scheduled"],
  ["started", "CLI started"],
  ["firstOutput", "first output"],
  ["cliOver", "CLI ended"],
] as const;

export interface DemoScreen extends Screen {
  welcome(): void;
  ready(stage: Stage, ms: number): void;
  goodbye(good: boolean): void;
}

/** The demo's terminal: at most 100 columns, colours only where there are some. */
export function createScreen(out: NodeJS.WriteStream, agent: DemoAgent): DemoScreen {
  const color = out.isTTY === true && !process.env.NO_COLOR;
  const width = Math.min(out.columns ?? WIDTH, WIDTH);
  const paint = (code: number) => (text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const [bold, dim, red, green] = [paint(1), paint(2), paint(31), paint(32)];
  const print = (text = "") => void out.write(`${text}\n`);
  const field = (name: string, value: string) => print(`  ${dim(name.padEnd(9))} ${value}`);
  return {
    welcome() {
      print(bold("One agent run, from the host's call to its result"));
      print(dim(`The real ${agent.title} CLI, an embedded cluster, a scripted LLM: no network, no key, no root.`));
    },
    ready(stage, ms) {
      print();
      field("cluster", `embedded, ${stage.cluster.url} (ready in ${seconds(ms)})`);
      field("LLM", `scripted, ${stage.llm.url}`);
      field("agent", `${agent.name} ${agent.version}, adapter ${agent.type}`);
    },
    title(text, task) {
      print();
      print(bold(`── ${text} ${"─".repeat(Math.max(0, width - text.length - 4))}`));
      print(dim(`  task: ${task}`));
      print();
    },
    line(line) {
      const text = agent.formatLine(line, { color });
      if (text !== "") print(text);
    },
    note: (text) => print(dim(`  (${text})`)),
    report({ result, ms, requests }) {
      print();
      const failed = result.exitCode !== 0 || Boolean(result.errorMessage);
      const exit = result.exitCode === null ? "no exit code" : `exit code ${result.exitCode}`;
      field("result", failed ? red(`${result.errorCode}, ${exit}`) : green(`succeeded, ${exit}`));
      const text = (name: string, value: string) => field(name, wrap(value, width - 12).join(`\n${" ".repeat(12)}`));
      if (result.errorMessage) text("cause", result.errorMessage);
      // What the host's page shows on the issue.
      if (failed && result.summary) text("comment", result.summary);
      field("session", result.sessionDisplayId ?? "none");
      const usage = result.usage ?? { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
      const cost = result.costUsd === null || result.costUsd === undefined ? "no cost reported" : `$${result.costUsd.toFixed(5)}`;
      field("tokens", `${usage.inputTokens} in, ${usage.cachedInputTokens ?? 0} cached, ${usage.outputTokens} out; ${cost}`);
      for (const [index, row] of phases(result.resultJson?.timings, ms).entries()) field(index === 0 ? "time" : "", row);
      field("requests", summary(requests));
    },
    goodbye(good) {
      print();
      print(good ? green("Ended as promised; nothing is left behind.") : red("A run did not end as this demo promises."));
      print(dim("Next: npm run paperclip, a real Paperclip server in your browser."));
    },
  };
}

function phases(timings: unknown, total: number): string[] {
  const at = (timings ?? {}) as Record<string, number | null>;
  const reached = PHASES.flatMap(([key, name]) => (typeof at[key] === "number" ? [{ name, ms: at[key] }] : []));
  let before = 0;
  return [...reached, { name: "returned", ms: total }].map(({ name, ms }) => {
    const row = `${seconds(ms).padStart(8)}  ${name.padEnd(14)} ${`+${seconds(Math.max(0, ms - before))}`.padStart(8)}`;
    before = ms;
    return row;
  });
}

/** What the run asked of the API server; the two list-watches serve all runs. */
function summary(requests: readonly string[]): string {
  const isShared = (request: string) => /^(list|watch) |accessreviews$/.test(request);
  const shared = requests.filter(isShared).length;
  const own = requests.filter((request) => !isShared(request));
  const forAll = shared === 0 ? "" : `, and ${shared} that all runs share (permissions, lists, watches)`;
  return `${own.length} (${own.join(", ")})${forAll}`;
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;

function wrap(text: string, width: number): string[] {
  const lines: string[] = [""];
  for (const word of text.split(/\s+/)) {
    const line = lines[lines.length - 1] ?? "";
    if (line !== "" && line.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}
