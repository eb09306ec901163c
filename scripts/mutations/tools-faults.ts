import type { Fault } from "./faults.ts";

const engine = (path: string): string => `packages/engine/src/${path}`;
const paperclip = (path: string): string => `packages/paperclip/src/${path}`;
const tools = (name: string): string => `packages/cli/src/tools/${name}.ts`;

/** What would keep an agent from working in an image that has neither Node nor its CLI, or have it take the image's libraries. */
export const TOOLS_FAULTS: readonly Fault[] = [
  {
    what: "the tools take a library of the image, of another C library",
    file: tools("relocate"),
    find: "if (fits) folders++;",
    replace: "if (fits) { folders++; continue; }",
    caughtBy: [tools("collect.test")],
  },
  {
    what: "the tools start with the image's loader, which may not be there",
    file: tools("relocate"),
    find: "  bytes.write(path);",
    replace: "  bytes.write(interpreter.path);",
    caughtBy: [tools("collect.test")],
  },
  {
    what: "a library that is missing is noticed only in the pod",
    file: tools("libraries"),
    find: "      if (library === null) throw",
    replace: "      if (library === null) continue;\n      if (library === undefined) throw",
    caughtBy: [tools("collect.test")],
  },
  {
    what: "any program that cannot be started leads to a second start with the tools",
    file: engine("outcome/container-problem.ts"),
    find: "/not found|no such file/i.test(why) &&",
    replace: "why !== '' &&",
    caughtBy: [engine("outcome/missing-program.test.ts")],
  },
  {
    what: "a CLI that exits with the code of an old runtime is run again",
    file: engine("outcome/conclude.ts"),
    find: "exitCode === RUNNER_EXIT.oldRuntime && state.startRecord === null",
    replace: "exitCode === RUNNER_EXIT.oldRuntime",
    caughtBy: [engine("outcome/missing-program.test.ts")],
  },
  {
    what: "the init container has more rights than the agent's",
    file: engine("manifest/tools.ts"),
    find: "    securityContext: containerSecurity(request),\n",
    replace: "",
    caughtBy: [engine("manifest/tools.test.ts")],
  },
  {
    what: "a run starts again with the tools for ever",
    file: paperclip("conclude/next-attempt.ts"),
    find: "missing !== null && start.tools === null &&",
    replace: "missing !== null &&",
    caughtBy: [paperclip("conclude/next-attempt.test.ts")],
  },
  {
    what: "an agent that wants no tools gets them",
    file: paperclip("prepare/tools/choice.ts"),
    find: 'return config.tools === "auto" && policy',
    replace: "return policy",
    caughtBy: [paperclip("conclude/next-attempt.test.ts")],
  },
  {
    what: "an agent's own PATH teaches the server about an image of others",
    file: paperclip("prepare/tools/remembered.ts"),
    find: 'known.get(path) || Object.hasOwn(place.config.env, "PATH")',
    replace: "known.get(path)",
    caughtBy: [paperclip("prepare/tools/remembered.test.ts")],
  },
  {
    what: "the tools' programs hide those of the image",
    file: "packages/runner/src/cli/start-cli.ts",
    find: "[...before, env.PATH || USUAL_PATH, ...behind]",
    replace: "[...before, ...behind, env.PATH || USUAL_PATH]",
    caughtBy: ["packages/runner/src/tools/path.test.ts"],
  },
];
