import type { LeftOut } from "@paperclip-k8s/paperclip";

const FILE = "opencode.json";
const WHY = "an earlier adapter wrote it";

/** Permissions that earlier adapters granted every agent in the config of the HOME they shared. Now the agent's own setting decides, run by run. */
export const earlierGrants: readonly LeftOut[] = [
  { file: FILE, at: ["permission", "external_directory"], is: "allow", why: WHY },
  { file: FILE, at: ["permission", "bash", "*"], is: "allow", why: WHY },
];
