import type { ObjectVolume, OwnClaim, OwnPod } from "@paperclip-k8s/engine";
import type { InheritSettings } from "../inherited.ts";

// For tests; they change what they are about.

export const exampleVariables = {
  allowlist: ["MODEL_*", "PAPERCLIP_MODEL_*", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
  denylist: ["MODEL_HOME", "PAPERCLIP_MODEL_STORAGE_DIR"],
  removed: ["MODEL_NESTED"],
} as const;

export const claim = (changes: Partial<OwnClaim> = {}): OwnClaim => ({
  claimName: "shared",
  mountPath: "/paperclip",
  subPath: null,
  subPathExpr: null,
  readOnly: false,
  ...changes,
});

export const volume = (name: string, mountPath: string, changes: Partial<ObjectVolume> = {}): ObjectVolume => ({
  name,
  mountPath,
  subPath: null,
  items: null,
  defaultMode: 0o444,
  ...changes,
});

export const examplePod = (changes: Partial<OwnPod> = {}): OwnPod => ({
  namespace: "servers",
  podName: "server-0",
  container: "paperclip",
  image: "paperclip:1",
  env: [],
  envFrom: [],
  claims: [claim()],
  secretVolumes: [],
  configMapVolumes: [],
  otherMounts: [],
  imagePullSecrets: ["registry"],
  dnsPolicy: "ClusterFirst",
  dnsConfig: null,
  nodeSelector: { pool: "agents" },
  tolerations: [{ key: "agents", operator: "Exists" }],
  ...changes,
});

export const exampleSettings = (changes: Partial<InheritSettings> = {}): InheritSettings => ({
  inherit: "listed",
  inheritNames: [],
  namespace: null,
  image: null,
  dataPath: "/paperclip",
  dataClaim: null,
  nodeSelector: null,
  tolerations: null,
  ...changes,
});
