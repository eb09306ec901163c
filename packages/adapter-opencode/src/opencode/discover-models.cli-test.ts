import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { noPluginInstall } from "./config-layer.ts";
import { createListModels } from "./discover-models.ts";

const realCli = fileURLToPath(new URL("../../../../node_modules/.bin/opencode", import.meta.url));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "models-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

test("the real CLI runs no plugin that an agent has put into the server's home", async () => {
  const ran = join(folder, "ran");
  for (const place of [".config/opencode", ".opencode"]) {
    for (const inside of ["plugin", "node_modules"]) mkdirSync(join(folder, place, inside), { recursive: true });
    for (const [name, text] of Object.entries(noPluginInstall)) writeFileSync(join(folder, place, name), text);
    const plugin = `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(ran)}, "x");\nexport const P = async () => ({});\n`;
    writeFileSync(join(folder, place, "plugin/x.js"), plugin);
  }
  writeFileSync(join(folder, "opencode.json"), JSON.stringify({ plugin: [`file://${folder}/.opencode/plugin/x.js`] }));
  const home = { HOME: folder, XDG_CONFIG_HOME: join(folder, ".config"), OPENCODE_CONFIG: join(folder, "opencode.json") };
  const keys = { OPENCODE_DISABLE_MODELS_FETCH: "true", GROQ_API_KEY: "key" };
  for (const [name, value] of Object.entries({ ...home, ...keys })) vi.stubEnv(name, value);
  const ids = (await createListModels(realCli, Date.now, 100_000)()).map(({ id }) => id);
  expect([ids.some((id) => id.startsWith("groq/")), existsSync(ran)]).toEqual([true, false]);
}, 120_000);
