export { type AdapterInfo, adaptersOf } from "./host/adapters.ts";
export { ApiError, call, type HostAddress } from "./host/api.ts";
export { type Agent, Company, type Issue, type Run, type RunEvent } from "./host/company.ts";
export { type PackedAdapters, packAdapters } from "./packages/install.ts";
export { prepareRelease, VERSIONS, type Version } from "./server/release.ts";
export { type Paperclip, type PaperclipOptions, startPaperclip } from "./server/server.ts";
export { dropRoot } from "./server/user.ts";
export { type AnyStage, openStage, type Stage } from "./stage.ts";
export { until } from "./wait.ts";
