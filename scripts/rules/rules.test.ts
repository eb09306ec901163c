import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { adapters, cliNames } from "../../packages/adapters.ts";
import { circles, codeOf, productSources, ROOT, readSource, type Source } from "./sources.ts";

// The seven rules of CONTRIBUTING, one test each. A broken rule is named with the file that breaks it.

const engine = productSources("engine");
const runner = productSources("runner");
const paperclip = productSources("paperclip");
const cli = productSources("cli");
const all = [...engine, ...runner, ...paperclip, ...cli];

const pathsOf = (sources: readonly Source[]): string[] => sources.map(({ path }) => path);
const within = (folder: string) => (source: Source) => source.path.startsWith(folder);
const importing = (sources: readonly Source[], name: string | RegExp): string[] =>
  pathsOf(sources.filter(({ imports }) => imports.some((each) => (typeof name === "string" ? each === name : name.test(each)))));
const saying = (sources: readonly Source[], words: RegExp): string[] => pathsOf(sources.filter((source) => words.test(codeOf(source))));

test("the scan sees the product", () => {
  expect(engine.length).toBeGreaterThan(60);
  expect(paperclip.length).toBeGreaterThan(80);
  expect(importing(all, "node:crypto").length).toBeGreaterThan(2);
});

test("rule 1: only engine/src/outcome makes an outcome", () => {
  const others = engine.filter((source) => !within("packages/engine/src/outcome/")(source));
  // An outcome needs its kind and its evidence; whoever can name neither cannot make one.
  expect(saying(others, /\bOutcomeKind\b/)).toEqual(["packages/engine/src/run-outcome.ts"]);
  expect(importing([...others, ...paperclip, ...cli], "packages/engine/src/outcome/evidence.ts")).toEqual([]);
  // The reducer is pure: no I/O, no cluster, no volume.
  const impure = /^node:|\/(kube|volume|lock|start|follow|finish)\/(?!views\.ts$)|^@kubernetes/;
  expect(importing(engine.filter(within("packages/engine/src/outcome/")), impure)).toEqual([]);
});

test("rule 2: only engine/src/kube/writes.ts changes something in the cluster", () => {
  // Access reviews are asked by POST and change nothing.
  expect(saying(all.filter(within("packages/engine/")), /method: "(POST|PUT|PATCH|DELETE)"/)).toEqual([
    "packages/engine/src/kube/access-review.ts",
    "packages/engine/src/kube/writes.ts",
  ]);
});

test("rule 3: only the child processes of the volume, of imports and of the test of locks touch files on the shared volume", () => {
  const children = ["volume", "import", "locks"].map((folder) => within(`packages/engine/src/${folder}/child/`));
  const elsewhere = [...engine, ...paperclip].filter((source) => !children.some((isChild) => isChild(source)));
  // Not on the volume: an import's folder in the server's temporary one, the kernel's list of mounts, the control socket and its folder, a run's folder in the server's temporary one, and the
  // operator's policy, which is refused if it lies there.
  expect(importing(elsewhere, /^node:fs/)).toEqual([
    "packages/engine/src/import/temp-folder.ts",
    // The operator's kubeconfig and what it names, the account of the server's pod.
    "packages/engine/src/kube/kept-files.ts",
    "packages/engine/src/kube/kubeconfig.ts",
    "packages/engine/src/volume/mount-point.ts",
    // The folder that the host has made for an account, in the server's temporary one.
    "packages/paperclip/src/built-in/prepared-account.ts",
    "packages/paperclip/src/handover/drain/control-server.ts",
    "packages/paperclip/src/handover/drain/control-socket.ts",
    "packages/paperclip/src/handover/drain/end-stored.ts",
    "packages/paperclip/src/policy/policy-file.ts",
  ]);
});

test("rule 4: one client of the host's API, one set of lost-run codes, one walk along retries, one module that knows paths", () => {
  const host = [...paperclip, ...cli];
  expect(saying(host, /\bfetch\(|from "node:https?"/)).toEqual(["packages/paperclip/src/host/api.ts"]);
  expect(saying(host, /"process_lost"/)).toEqual(["packages/paperclip/src/host/runs.ts"]);
  expect(saying(host, /= [\w.?]+\.retryOfRunId/)).toEqual(["packages/paperclip/src/host/runs.ts"]);
  expect(saying(host, /instances\/|\/(run-logs|agent-state|prompt-bundles)\b|\.pod\.ndjson/)).toEqual([
    "packages/paperclip/src/host/paths.ts",
  ]);
});

test("nothing in the server's process needs a newer Node than the oldest that it may have", () => {
  const statics = /\b(Promise\.(withResolvers|try)|(Object|Map)\.groupBy|Array\.fromAsync|RegExp\.escape|Iterator\.\w+|Error\.isError)\b/;
  const methods = /\.(union|intersection|difference|symmetricDifference|isSubsetOf|isSupersetOf|isDisjointFrom|toArray)\(/;
  const ofIterators = /\.(keys|values|entries)\(\)\.(map|filter|some|every|find|reduce|take|drop|flatMap|forEach)\(/;
  // These must not even be linked: an adapter that cannot be loaded cannot say that Node is too old.
  expect(saying([...engine, ...paperclip], /import \{[^}]*\b(hash|styleText)\b[^}]*\} from "node:(crypto|util)"/)).toEqual([]);
  const modules = /node:sqlite|getBuiltinModule|import\.meta\.main|[zZ]std|\busing \w+ =/;
  const clis = Object.values(adapters).flatMap(({ folder }) => productSources(folder));
  expect(clis.length).toBeGreaterThan(20);
  // Processes of their own, which say so where their Node has no SQLite.
  const children = ["import", "locks"].map((folder) => within(`packages/engine/src/${folder}/child/`));
  for (const words of [statics, methods, ofIterators, modules])
    expect(
      saying(
        [...engine, ...paperclip, ...cli, ...clis].filter((source) => !children.some((isChild) => isChild(source))),
        words,
      ),
    ).toEqual([]);
});

test("rule 5: no file outside a CLI's folder names a CLI", () => {
  expect(saying(all, /opencode|claude|anthropic/i)).toEqual([]);
});

test("rule 5: of scripts, demo, bench and test bed only the list of adapters and scenarios about one CLI name a CLI", () => {
  const files = ["scripts", "demo", "bench", "testbed"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`),
  );
  const sources = files.filter((file) => file.endsWith(".ts") && !/node_modules|dist\/|[.-]test\.ts$|\.system\.ts$/.test(file));
  expect(sources.length).toBeGreaterThan(100);
  const words = new RegExp(cliNames.join("|"), "i");
  const named = saying(
    ["packages/adapters.ts", ...sources].map((file) => readSource(file)),
    words,
  );
  expect(named.sort()).toEqual([
    "packages/adapters.ts",
    // Deliberate faults name the files they are made in.
    "scripts/mutations/input-faults.ts",
    "scripts/rules/measure.ts",
    "testbed/paperclip/system/browser/meanwhile.ts",
    "testbed/paperclip/system/restart/restart-under.ts",
    // Names a test file.
    "testbed/suite/vitest.kube.config.ts",
  ]);
});

test("rule 6: JSON is parsed by total decoders only", () => {
  const parsing = [...engine, ...paperclip].filter((source) => /JSON\.parse\(/.test(codeOf(source)));
  // A call that can throw stands directly in a try; its file turns what was parsed into checked, bounded fields.
  for (const source of parsing) {
    const calls = codeOf(source).split("JSON.parse(").length - 1;
    expect([...codeOf(source).matchAll(/try \{[^{}]*(?:\{[^{}]*)?JSON\.parse\(/g)].length, source.path).toBe(calls);
  }
  expect(pathsOf(parsing)).toEqual([
    // Records and termination messages: what a pod can write.
    "packages/engine/src/decode-records.ts",
    // What the operator's credential plugin prints.
    "packages/engine/src/kube/exec-plugin.ts",
    // Answers of the API server.
    "packages/engine/src/kube/read-answer.ts",
    "packages/engine/src/kube/watch/watch-stream.ts",
    // Lines of a CLI's output.
    "packages/paperclip/src/agent-cli/json-fields.ts",
    // Answers of the host.
    "packages/paperclip/src/host/api.ts",
    // Arguments, before secrets in them are blanked out for the log.
    "packages/paperclip/src/prepare/prompt/redact.ts",
    // Settings.
    "packages/paperclip/src/settings/kinds/structured.ts",
  ]);
});

test("rule 7: imports point downward, and folders do not import each other in circles", () => {
  expect(importing(runner, /^(?!node:|packages\/runner\/)/)).toEqual([]);
  expect(importing(engine, /^@paperclip-k8s\/(?!runner)|^paperclip-adapter/)).toEqual([]);
  expect(importing(paperclip, /^@paperclip-k8s\/(?!engine)|^paperclip-adapter|^@kubernetes/)).toEqual([]);
  for (const sources of [engine, runner, paperclip, cli]) expect(circles(sources)).toEqual([]);
  // Within the engine: only kube/ knows the Kubernetes client, and manifests are pure functions of the request.
  expect(importing(engine, /^@kubernetes/).filter((path) => !path.startsWith("packages/engine/src/kube/"))).toEqual([]);
  const manifest = engine.filter(within("packages/engine/src/manifest/"));
  expect(importing(manifest, /^node:(?!crypto$)|\/(kube|volume|lock|start|follow|finish|outcome|status)\//)).toEqual([]);
});

test.each([
  ["engine", engine],
  ["runner", runner],
])("rule 7: %s has no word of the host or of any CLI", (_, sources) => {
  const text = (source: Source): string => source.text.replaceAll("@paperclip-k8s/", "");
  expect(pathsOf(sources.filter((source) => /paperclip|opencode|claude/i.test(text(source))))).toEqual([]);
});
