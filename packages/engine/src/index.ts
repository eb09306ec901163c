export type {
  Argument,
  CliDefaults,
  CliEnd,
  EndRecord,
  FinalLine,
  LeftOut,
  Seed,
  SeedSpec,
  StatePart,
  StateSpec,
} from "@paperclip-k8s/runner";
export type { SelfCheckFinding } from "@paperclip-k8s/runner/self-check";
export { type Clock, createClock } from "./clock.ts";
export { selfCheckFinding } from "./decode-records.ts";
export { deferred } from "./deferred.ts";
export { createEngine, type Engine, type EngineOptions } from "./engine.ts";
export { RequestError } from "./errors.ts";
export { type ImportOptions, importState } from "./import/import-state.ts";
export type { ImportAnswer, ImportProgress, ImportSource, RowRule } from "./import/protocol.ts";
export { ApiError, isTransient } from "./kube/api-error.ts";
export { type ConnectOptions, contextNamespace } from "./kube/credentials.ts";
export { type LookUp, lookUp, type ObjectName } from "./kube/look-up.ts";
export { findOwnPod, OwnPodError, ownPodIdentity } from "./kube/own-pod/own-pod.ts";
export type { OwnClaim, OwnEnv, OwnPod } from "./kube/own-pod/project-own-pod.ts";
export { type Permission, permissions } from "./kube/permissions.ts";
export { type ContainerState, isFinished, type JobView, type PodView } from "./kube/views.ts";
export type { LockFinding } from "./locks/judge-locks.ts";
export { tryLocks } from "./locks/try-locks.ts";
export { INPUT_MOUNT } from "./manifest/job.ts";
export { isLabelKey, labelValue } from "./manifest/names.ts";
export { runtimeOf, TOOLS_MOUNT, toolPath } from "./manifest/tools.ts";
export {
  findClaim,
  findStorageClass,
  reviewPermissions,
  selfCheckArgv,
  tryClaim,
  tryRun,
  tryVolume,
} from "./operator/checks.ts";
export {
  listJobsEverywhere,
  listRuns,
  listSecrets,
  removeJob,
  removePod,
  removeSecret,
  type SecretView,
} from "./operator/objects.ts";
export type { Adoption } from "./outcome/observation.ts";
export { overlaps } from "./overlaps.ts";
export { openNote, ownTermination, type RecordTrust, signNote, trustOf } from "./record-trust.ts";
export {
  type ClaimVolume,
  type EnvReference,
  type EnvSource,
  type ObjectVolume,
  type PodTemplate,
  type RunRequest,
  type RunTools,
  runFiles,
  type SharedMount,
  type WakeUpRule,
} from "./request.ts";
export { type LockDecision, type LockOwner, messageOf, type RunIo, type StatusLine } from "./run-context.ts";
export type { Evidence, MissingProgram, RunOutcome, StartFailure } from "./run-outcome.ts";
export { createSettledJobs, type SettledJobs } from "./settled-jobs.ts";
export { standing } from "./status/session-lines.ts";
export { JOB_WAIT_SEC, type Timeouts } from "./timeouts.ts";
export { type Line, LineSplitter } from "./volume/lines.ts";
export { mountPointOf } from "./volume/mount-point.ts";
export { checkedPart, PathPartError } from "./volume/paths.ts";
export type { FolderEntry, Operations, SeenPath, StaleEntry, SweepRule, TreeFile } from "./volume/protocol.ts";
export { type FoundEnd, readEnd } from "./volume/read-end.ts";
export { VolumeError, withVolume } from "./volume/volume.ts";
export { mayPass } from "./volume/volume-error.ts";
export { withoutTrailing } from "./without-trailing.ts";
