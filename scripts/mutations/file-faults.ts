import type { Fault } from "./faults.ts";

const engine = (path: string): string => `packages/engine/src/${path}`;

/** Which files would get into a prompt although the operator's policy does not allow it. */
export const FILE_FAULTS: readonly Fault[] = [
  {
    what: "what a pod links to in its output's place is kept for the operator to read",
    file: "packages/engine/src/volume/child/keep-end.ts",
    find: "openSync(source(basename(from)), READ_FLAGS)",
    replace: 'openSync(source(basename(from)), "r")',
    caughtBy: ["packages/engine/src/volume/child/keep-end.test.ts"],
  },
  {
    what: "the server's environment is read as an agent's instructions",
    file: "packages/paperclip/src/prepare/prompt/instructions.ts",
    find: "if (!files.allows(file)) {",
    replace: "if (!files.allows(file) && file === cwd) {",
    caughtBy: ["packages/paperclip/src/prepare/prompt/file-places.test.ts"],
  },
  {
    what: "skills are read from anywhere on the server",
    file: "packages/paperclip/src/prepare/prompt/server-files.ts",
    find: "if (within === null) throw new Error(NOT_A_PLACE);",
    replace: "",
    caughtBy: ["packages/paperclip/src/prepare/prompt/file-places.test.ts"],
  },
  {
    what: "a link in an agent's folder brings another agent's file into its prompt",
    file: engine("volume/child/read-files.ts"),
    find: "if (names.length === 0)",
    replace: "if (folders.length === 0)",
    caughtBy: [engine("volume/child/read-files.test.ts")],
  },
  {
    what: "a link in an operator's folder leads to what pods write",
    file: engine("volume/child/read-files.ts"),
    find: "if (written !== undefined)",
    replace: "if (written === path)",
    caughtBy: [engine("volume/child/read-files.test.ts")],
  },
  {
    what: "a link in an operator's folder leads to the server's environment",
    file: engine("volume/child/read-files.ts"),
    find: "if (KERNEL.some((folder) => isBelow(path, folder)))",
    replace: "if (KERNEL.includes(path))",
    caughtBy: [engine("volume/child/read-files.test.ts")],
  },
  {
    what: "a folder that the policy opens elsewhere opens the whole volume to links",
    file: engine("volume/child/read-files.ts"),
    find: "resolve(top, relative(root, name)) }] : [];",
    replace: "resolve(top, relative(root, name)) }] : [{ name: root, real: top }];",
    caughtBy: [engine("volume/child/read-files.test.ts")],
  },
  {
    what: "a link leads to what the policy takes out of a folder",
    file: "packages/paperclip/src/prepare/prompt/server-files.ts",
    find: "if (!names.some((each) => this.allows(each)))",
    replace: "if (names.length === 0)",
    caughtBy: ["packages/paperclip/src/prepare/prompt/file-places.test.ts"],
  },
];
