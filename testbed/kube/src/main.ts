import { down, purge } from "./down.ts";
import { lock } from "./lock.ts";
import { settingsFrom } from "./settings.ts";
import { up } from "./up.ts";

const begun = Date.now();
const seconds = (since: number): string => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/** A line when a step begins would be noise for quick ones, so it comes only when the step takes a while. */
async function step<T>(what: string, act: () => Promise<T>): Promise<T> {
  const since = Date.now();
  const timer = setInterval(() => console.log(`        … ${what}: ${seconds(since)} so far`), 15_000);
  try {
    const result = await act();
    console.log(`${seconds(since).padStart(7)} ${what}`);
    return result;
  } finally {
    clearInterval(timer);
  }
}

async function main([command, ...flags]: string[]): Promise<void> {
  const settings = settingsFrom(process.env);
  if (command === "up" && flags.length === 0) {
    await lock(settings.dir);
    const { kubeconfig, kubectl } = await up(settings, step);
    console.log(`up after ${seconds(begun)}\nexport KUBECONFIG=${kubeconfig}\nkubectl: ${kubectl}`);
  } else if (command === "down" && (flags.length === 0 || flags[0] === "--purge")) {
    await lock(settings.dir);
    await step("everything of the cluster removed", () => down(settings));
    if (flags[0] === "--purge") await step(`${settings.cache} removed`, () => purge(settings));
  } else {
    throw new Error("usage: main.ts up | down [--purge]");
  }
}

main(process.argv.slice(2)).catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
