// What a proxy in front of another API server needs to read requests and to disturb them as pocket does.
export { type AuditEntry, auditEntry } from "./audit.ts";
export { type Fault, failure, matches, RequestFaults, type RequestMatch } from "./request-faults.ts";
export { route, verbOf } from "./route.ts";
