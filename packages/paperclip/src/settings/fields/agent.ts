import { text, toggle } from "../kinds/scalar.ts";
import { env, list } from "../kinds/structured.ts";
import { absolutePath } from "../kinds/text-checks.ts";

const TEMPLATE_VARIABLES = "`{{agent.id}}`-style variables: agentId, companyId, runId, company, agent, run (`id`, `source`), context";

/** What the CLI works with. */
export const agentFields = {
  model: text({ key: "model", defaultText: "the CLI's own", doc: "passed to the CLI" }),
  effort: text({
    key: "effort",
    aliases: ["thinkingEffort", "variant"],
    doc: "reasoning effort, passed to the CLI; `thinkingEffort` and `variant` mean the same, the first one set counts",
  }),
  dangerouslySkipPermissions: toggle({
    key: "dangerouslySkipPermissions",
    label: "Skip permission prompts",
    default: true,
    doc: "the CLI may work outside its folder without asking; nobody is there to answer. Off: no permission setting is added",
  }),
} as const;

/** How it is started and what it is given; the CLI's own settings stand before these. */
export const startFields = {
  command: text({ key: "command", defaultText: "the CLI's name", doc: "program in the image to start instead of the CLI's own name" }),
  extraArgs: list({
    key: "extraArgs",
    aliases: ["args"],
    doc: "further arguments of the CLI, a list. Paperclip's form splits at spaces when an agent is created and at commas when it is edited",
  }),
  env: env({ key: "env", doc: "environment of the CLI, an object; overrides what is inherited; goes into the run's Secret" }),
  cwd: text({
    key: "cwd",
    defaultText: "the data path",
    check: absolutePath,
    doc: "working directory where Paperclip prepared no workspace",
  }),
  promptTemplate: text({
    key: "promptTemplate",
    defaultText: "a sentence with the agent's id and name",
    doc: `text of every turn; ${TEMPLATE_VARIABLES}`,
  }),
  bootstrapPromptTemplate: text({ key: "bootstrapPromptTemplate", doc: "text before the first turn of a session; same variables" }),
  instructionsFilePath: text({
    key: "instructionsFilePath",
    doc: "file on the server with the agent's instructions, put before the prompt; Paperclip sets it. Unreadable: a warning in the log, the run goes on",
  }),
  instructionsRootPath: text({
    key: "instructionsRootPath",
    doc: "folder of the instructions, set by Paperclip; used with `instructionsEntryFile` where `instructionsFilePath` is unset",
  }),
  instructionsEntryFile: text({ key: "instructionsEntryFile", default: "AGENTS.md", doc: "file in that folder, set by Paperclip" }),
  instructionsBundleMode: text({
    key: "instructionsBundleMode",
    doc: "`managed` or `external`, set by Paperclip; changes nothing here",
  }),
} as const;
