export type { EnvReference, EnvSource, ObjectVolume, OwnClaim, OwnEnv, OwnObjectVolume, OwnPod } from "@paperclip-k8s/engine";
