import type { AgentCli } from "../../packages/paperclip/src/agent-cli/agent-cli.ts";
import type { BuiltInSetting } from "../../packages/paperclip/src/agent-cli/built-in-type.ts";
import { commonSettings } from "../../packages/paperclip/src/built-in/common-settings.ts";

const WORDS: Readonly<Record<string, string>> = { "left out": "left out, with a warning", host: "the host's own" };

/** What becomes of every setting that agents of the built-in types can have: those of all types, then those of each. */
export function builtInTables(clis: readonly AgentCli[]): string {
  const own = clis.flatMap(({ builtIn }) => (builtIn === undefined ? [] : [table(`only of \`${builtIn.type}\``, builtIn.settings)]));
  return [table("of both types", commonSettings), ...own].join("\n\n");
}

function table(title: string, settings: readonly BuiltInSetting[]): string {
  const rows = settings.map(({ key, becomes, doc }) => `| \`${key}\` | ${WORDS[becomes] ?? becomes} | ${doc.replaceAll("|", "\\|")} |`);
  return [`| ${title} | becomes | how |`, "|---|---|---|", ...rows].join("\n");
}
