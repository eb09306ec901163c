export type { OwnClaim, OwnEnv, OwnObjectVolume, OwnPod } from "../../../engine/src/cluster/project-own-pod.ts";
export type { EnvReference, EnvSource, ObjectVolume } from "../../../engine/src/run/request.ts";
