// Writes generated/catalogue.ts: the catalogue of models that the real CLI carries, one compressed text per provider.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { deflateRawSync } from "node:zlib";

interface Provider {
  readonly id: string;
  readonly env: readonly string[];
  readonly models: Readonly<Record<string, object>>;
}

const FILE = fileURLToPath(new URL("../generated/catalogue.ts", import.meta.url));
/** For people who choose a model; the CLI does not read them. */
const UNREAD = new Set(["description", "doc", "knowledge", "last_updated", "open_weights"]);
/** Where in the program's text the catalogue is: its first entry begins like this, and so does nothing else. */
const BEGINNING = /[^,}](\{(?:"[^"]+"|[\w$]+):\{id:"[^"]+",env:\[)/;
const KNOWN_ENTRY = ',env:["ANTHROPIC_API_KEY"],npm:';
const MOST_BYTES = 16 * 1024 * 1024;

/** Nothing is done when the file is that of the installed version, made by this very text. */
export async function generate(): Promise<void> {
  const manifest = createRequire(import.meta.url).resolve("opencode-ai/package.json");
  const { version, bin } = JSON.parse(await readFile(manifest, "utf8")) as { version: string; bin: Record<string, string> };
  const generator = createHash("sha256")
    .update(readFileSync(new URL(import.meta.url)))
    .digest("hex");
  const head = `// Of OpenCode ${version}, by a generator with SHA-256 ${generator}.\n`;
  if (existsSync(FILE) && (await readFile(FILE, "utf8")).startsWith(head)) return;
  const program = join(dirname(manifest), Object.values(bin)[0] ?? "");
  const licence = await readFile(join(dirname(manifest), "LICENSE"), "utf8");
  await mkdir(dirname(FILE), { recursive: true });
  await writeFile(FILE, head + moduleText(catalogueIn(readFileSync(program)), licence));
}

/** The catalogue is an object literal in the program's JavaScript. */
export function catalogueIn(program: Buffer): Readonly<Record<string, Provider>> {
  const known = program.indexOf(KNOWN_ENTRY);
  const text = program.subarray(Math.max(0, known - MOST_BYTES), known + MOST_BYTES).toString();
  const begun = known < 0 ? null : BEGINNING.exec(text);
  if (begun === null) throw new Error("the CLI's catalogue of models is not where it used to be: see generate/catalogue.ts");
  const from = begun.index + 1;
  return runInNewContext(`(${text.slice(from, endOf(text, from))})`, {}, { timeout: 10_000 }) as Record<string, Provider>;
}

/** Where the brackets that open here are closed; strings are skipped. */
function endOf(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at]!;
    if (char === '"') while (text[++at] !== '"') at += text[at] === "\\" ? 1 : 0;
    else if (char === "{" || char === "[") depth++;
    else if ((char === "}" || char === "]") && --depth === 0) return at + 1;
  }
  throw new Error("the CLI's catalogue of models does not end");
}

function moduleText(catalogue: Readonly<Record<string, Provider>>, licence: string): string {
  const entries = Object.values(catalogue).map((provider) => {
    const text = JSON.stringify(provider, (key, value) => (UNREAD.has(key) ? undefined : value));
    const packed = deflateRawSync(text, { level: 9 }).toString("base64");
    return `  ${JSON.stringify(provider.id)}: ${JSON.stringify({ env: provider.env, bytes: Buffer.byteLength(text), packed })},\n`;
  });
  const type = "Readonly<Record<string, { readonly env: readonly string[]; readonly bytes: number; readonly packed: string }>>";
  return `/*!\n${licence.trim()}\n*/\nexport const catalogue: ${type} = {\n${entries.join("")}};\n`;
}
