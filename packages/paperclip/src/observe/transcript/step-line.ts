import { noTokens, type StepEndEntry, type StepTokens } from "../../agent-cli/entry.ts";
import { groupDigits } from "./fold.ts";

const labels: readonly (readonly [keyof StepTokens, string])[] = [
  ["input", "in"],
  ["cacheRead", "cached"],
  ["cacheWrite", "written to cache"],
  ["output", "out"],
  ["reasoning", "reasoning"],
];

// Six decimals are what the host shows; two at least, as money is written.
const dollars = (cost: number): string => `$${cost.toFixed(6).replace(/(\.\d\d\d*?)0+$/, "$1")}`;

/** `stop · 400 in · 800 cached · 45 out · $0.002295`; what is zero is left out, but for input and output. */
export function writeStep(reason: string, tokens: StepTokens, costUsd: number): string {
  const counts = labels.flatMap(([name, label]) =>
    tokens[name] > 0 || name === "input" || name === "output" ? [`${groupDigits(Math.max(0, tokens[name]))} ${label}`] : [],
  );
  return [reason.replaceAll(" · ", " - "), ...counts, ...(costUsd > 0 ? [dollars(costUsd)] : [])].join(" · ");
}

export function readStep(line: string): Pick<StepEndEntry, "reason" | "tokens" | "costUsd"> | undefined {
  const [reason = "", ...parts] = line.split(" · ");
  const tokens = { ...noTokens };
  let costUsd = 0;
  for (const part of parts) {
    const [, count = "", label = ""] = /^\$?([\d,.]+)(?: (.+))?$/.exec(part) ?? [];
    const amount = Number(count.replaceAll(",", ""));
    const name = labels.find(([, known]) => known === label)?.[0];
    if (part.startsWith("$")) costUsd = amount;
    else if (name) tokens[name] = amount;
    else return undefined;
  }
  return { reason, tokens, costUsd };
}
