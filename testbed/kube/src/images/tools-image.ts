import { readdirSync } from "node:fs";
import { join } from "node:path";
import { contentHash, filesHash } from "../content-hash.ts";
import { npmPrograms } from "../images.ts";
import { run } from "../run.ts";
import type { TestImage } from "./test-images.ts";

const PACKAGES = join(import.meta.dirname, "../../../../packages");
/** What decides how the folder looks, besides the programs. */
const SOURCES = ["cli/src/tools", "runner/src/tools"].map((folder) => join(PACKAGES, folder));

/** What the operator's own command collects from this project's Node and CLIs, and nothing else: no shell, no user. */
export const TOOLS_IMAGE: TestImage = {
  on: null,
  settings: () => ({ User: "", Cmd: [], Env: [] }),
  madeFrom: () => {
    const sources = SOURCES.flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
    );
    return contentHash([filesHash(sources.filter((file) => /(?<!\.test)\.ts$/.test(file)).sort()), JSON.stringify(npmPrograms()), "bash"]);
  },
  layer: async (work) => {
    const layer = join(work, "tools");
    const [node, ...clis] = npmPrograms();
    const wanted = ["--node", node!.path, ...clis.flatMap(({ name, path }) => ["--cli", `${name}=${path}`]), "--cli", "bash"];
    await run(process.execPath, [join(PACKAGES, "cli/src/main.ts"), "collect-tools", layer, ...wanted]);
    return layer;
  },
};
