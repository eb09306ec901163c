import { named } from "../field.ts";
import { text, toggle } from "../kinds/scalar.ts";
import { env, list } from "../kinds/structured.ts";
import { workingFolder } from "../kinds/text-checks.ts";

const TEMPLATE_VARIABLES = "`{{agent.id}}`-style variables: agentId, companyId, runId, company, agent, run (`id`, `source`), context";

/** What the CLI works with. */
export const agentFields = named({
  model: text({ hostLabel: "Model", defaultText: "the CLI's own", doc: "passed to the CLI" }),
  effort: text({
    hostLabel: "Thinking effort",
    aliases: ["thinkingEffort", "variant"],
    doc: "reasoning effort, passed to the CLI; `thinkingEffort` and `variant` mean the same, the first one set counts",
  }),
  dangerouslySkipPermissions: toggle({
    label: "Skip permission prompts",
    default: true,
    doc: "the CLI may work outside its folder without asking; nobody is there to answer. Off: no permission setting is added",
  }),
});

/** How it is started and what it is given; the CLI's own settings stand before these. */
export const startFields = named({
  command: text({
    hostLabel: "Command",
    defaultText: "the CLI's name",
    doc: "program in the image to start instead of the CLI's own name",
  }),
  extraArgs: list({
    hostLabel: "Extra args",
    aliases: ["args"],
    doc: "further arguments of the CLI, a list. Paperclip's form splits at spaces when an agent is created and at commas when it is edited",
  }),
  env: env({
    hostLabel: "Environment variables",
    doc: "environment of the CLI, an object; overrides what is inherited; goes into the run's Secret",
  }),
  cwd: text({
    defaultText: "the agent's own folder",
    check: workingFolder,
    doc: "working directory where Paperclip prepared no workspace; on the volume: in the agent's own folder, or in one that the policy's `volume.paths` allows",
  }),
  promptTemplate: text({
    longest: Number.POSITIVE_INFINITY,
    defaultText: "a sentence with the agent's id and name",
    doc: `text of every turn; ${TEMPLATE_VARIABLES}`,
  }),
  bootstrapPromptTemplate: text({ longest: Number.POSITIVE_INFINITY, doc: "text before the first turn of a session; same variables" }),
  instructionsFilePath: text({
    doc: "file on the server with the agent's instructions, put before the prompt; Paperclip sets it. In another place than Paperclip's folders for the agent and its company: refused, unless the policy allows it. Unreadable: a warning in the log, the run goes on",
  }),
  instructionsRootPath: text({
    doc: "folder of the instructions, set by Paperclip; used with `instructionsEntryFile` where `instructionsFilePath` is unset",
  }),
  instructionsEntryFile: text({ default: "AGENTS.md", doc: "file in that folder, set by Paperclip" }),
  instructionsBundleMode: text({ doc: "`managed` or `external`, set by Paperclip; changes nothing here" }),
});
