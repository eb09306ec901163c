export { type AdapterInfo, adaptersOf } from "./adapters.ts";
export { ApiError, call, type HostAddress } from "./api.ts";
export { type Agent, Company, type Issue, type Run, type RunEvent } from "./company.ts";
export { type PackedAdapters, packAdapters } from "./install.ts";
export { prepareRelease, VERSIONS, type Version } from "./release.ts";
export { type Paperclip, type PaperclipOptions, startPaperclip } from "./server.ts";
export { type AnyStage, openStage, type Stage } from "./stage.ts";
export { dropRoot } from "./user.ts";
export { until } from "./wait.ts";
