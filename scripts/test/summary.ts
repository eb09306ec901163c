import type { Reporter, SerializedError, TestCase, TestModule } from "vitest/node";
import { isLayer, LAYERS, type LayerName } from "./layers.ts";

/** What one run of a layer came to. */
export interface Totals {
  readonly passed: number;
  readonly failed: readonly string[];
  readonly skipped: number;
  /** Passed, but only when they were tried again. */
  readonly triedAgain: readonly string[];
  /** Errors outside any test. */
  readonly errors: number;
  readonly files: number;
  readonly seconds: number;
}

/** The last lines of every layer: counts, what failed, what needed a second attempt, and what to run next. */
export function summaryLines(totals: Totals, layer: LayerName | null): string[] {
  const { passed, failed, skipped, triedAgain, errors, files, seconds } = totals;
  const list = (title: string, names: readonly string[]) => (names.length === 0 ? [] : [title, ...names.map((name) => `  ${name}`)]);
  const next = layer === null || failed.length > 0 || errors > 0 ? [] : LAYERS[layer].next.map((name) => LAYERS[name]);
  return [
    ...list("Failed:", failed),
    ...list("Defects, to be found and not to be tried again: these passed only at a second attempt.", triedAgain),
    ...(errors > 0 ? [`${errors} errors outside of any test`] : []),
    `Tests: ${passed} passed, ${failed.length} failed, ${skipped} skipped`,
    `${files} files in ${seconds} s; ${triedAgain.length === 0 ? "none" : triedAgain.length} tried twice`,
    ...next.map(({ command, about }) => `Next: ${command.padEnd(20)} ${about}`),
  ];
}

/** Prints them at the end of a run. */
export class Summary implements Reporter {
  #begun = 0;

  onTestRunStart(): void {
    this.#begun = performance.now();
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const seconds = Math.round((performance.now() - this.#begun) / 1000);
    const layer = process.env.TEST_WHOLE !== undefined && isLayer(process.env.TEST_LAYER) ? process.env.TEST_LAYER : null;
    console.log(["", ...summaryLines(totalsOf(modules, errors.length, seconds), layer), ""].join("\n"));
  }
}

function totalsOf(modules: readonly TestModule[], errors: number, seconds: number): Totals {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const inState = (state: string) => tests.filter((test) => test.result().state === state);
  return {
    passed: inState("passed").length,
    // A file that cannot be loaded has no tests to count.
    failed: [...inState("failed").map(nameOf), ...modules.filter(isBroken).map((module) => module.relativeModuleId)],
    skipped: inState("skipped").length,
    triedAgain: tests.filter((test) => test.diagnostic()?.flaky).map((test) => `${nameOf(test)}${firstErrorOf(test)}`),
    errors,
    files: modules.length,
    seconds,
  };
}

const isBroken = (module: TestModule): boolean => module.errors().length > 0;
/** Why the first attempt failed: nothing else of the output says it. */
const firstErrorOf = (test: TestCase): string => {
  const [error] = test.result().errors ?? [];
  const indented = (text: string): string => `\n${text.trim().replace(/^/gm, "      ")}`;
  return error === undefined ? "" : indented(`${error.stack || error.message}${error.diff === undefined ? "" : `\n${error.diff}`}`);
};
const nameOf = (test: TestCase): string => `${test.module.relativeModuleId} > ${test.fullName}`;
