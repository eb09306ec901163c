import { type Field, named } from "@paperclip-k8s/paperclip";
import { toggle } from "@paperclip-k8s/paperclip/settings";

/** By the names that the code has for them. */
export type OwnSettings = {
  readonly fastStart: Field<boolean>;
  readonly titleByModel: Field<boolean>;
};

/** Settings that only OpenCode has. */
export const ownSettings: OwnSettings = named({
  fastStart: toggle({
    label: "Fast start",
    default: true,
    doc: "leave out of OpenCode's start what a run does not need: models of providers that it cannot use, downloads, the installation of its plugin package, logins' plugins, the file watcher (docs/configure.md); off: OpenCode starts as it would by hand, and what its sub-agents use is not counted (docs/results.md)",
  }),
  titleByModel: toggle({
    label: "Session titles by the model",
    default: false,
    doc: "let the model name each new session, which is one more request; off: it has the issue's title",
  }),
});
