import type { LeftOut } from "@paperclip-k8s/paperclip";

/** What an earlier adapter merged into the settings of the HOME that runs shared. Its script was written by each pod itself: without it every tool call fails. */
const FILTER = { matcher: ".*", hooks: [{ type: "command", command: "node /tmp/.rtk-filter.js" }] };

export const earlierHooks: readonly LeftOut[] = [
  { file: "", at: ["hooks", null, null], is: FILTER, why: "an earlier adapter's, its script is gone" },
];
