/** A line of a run's log for a terminal; `formatStdoutEvent` is the name under which the host's command line looks for a formatter. */
export { formatLine, printLine as formatStdoutEvent } from "@paperclip-k8s/paperclip/transcript/format-line";
