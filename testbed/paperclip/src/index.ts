export { type AdapterInfo, adaptersOf } from "./adapters.ts";
export { ApiError, call } from "./api.ts";
export { type Agent, Company, type Issue, type Run, type RunEvent } from "./company.ts";
export { type PackedAdapter, packAdapter } from "./install.ts";
export { prepareRelease, VERSIONS, type Version } from "./release.ts";
export { type Paperclip, type PaperclipOptions, startPaperclip } from "./server.ts";
export { openStage, type Stage } from "./stage.ts";
export { dropRoot } from "./user.ts";
export { until } from "./wait.ts";
