import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { execKubeconfig } from "@paperclip-k8s/paperclip/testing/exec-kubeconfig";
import type { Stage } from "./stage/stage.ts";

// Settings that an agent stores through the host's API, or that an issue carries. `refused`: the field that the message names.

export interface SettingsAttack {
  readonly tries: string;
  readonly config: (place: { readonly stage: Stage; readonly workspace: string }) => Record<string, unknown>;
  /** Null = the run goes on without what was asked for. */
  readonly refused: string | null;
}

const set = (tries: string, refused: string, config: Record<string, unknown>): SettingsAttack => ({ tries, refused, config: () => config });

function plantKubeconfig(workspace: string): string {
  const path = `${workspace}/kubeconfig`;
  writeFileSync(path, execKubeconfig("touch", [`${workspace}/ran`]));
  return path;
}

/** A link in the agent's own folder that leads to what only the server can read. */
function linkTo(target: string, path: string): string {
  mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  symlinkSync(target, path);
  return path;
}

/** Objects in each other, as deep as one request to the host can have them. */
function deep(levels: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < levels; level++) value = { limits: value };
  return value;
}

const ENVIRON = "/proc/self/environ";

export const settingsAttacks: Readonly<Record<string, SettingsAttack>> = {
  "settings/kubeconfig-exec": {
    tries: "a kubeconfig in its workspace that names a program for the server to run",
    refused: "kubeconfig",
    config: ({ workspace }) => ({ kubeconfig: plantKubeconfig(workspace) }),
  },
  "settings/kubeconfig-text": set("a kubeconfig as text instead of a path", "kubeconfig", { kubeconfig: "apiVersion: v1\nkind: Config\n" }),
  "settings/kubeconfig-elsewhere": set("any other kubeconfig of the server's machine", "kubeconfig", {
    kubeconfig: "/etc/kubernetes/admin.conf",
  }),
  "settings/service-account": set("the server's own service account", "serviceAccountName", { serviceAccountName: "paperclip" }),
  "settings/claim": set("another program's claim", "dataClaim", { dataClaim: "postgres-data" }),
  "settings/namespace": set("another namespace", "namespace", { namespace: "kube-system" }),
  "settings/data-path": set("the machine's root as the data path", "dataPath", { dataPath: "/etc" }),
  "settings/inherit-all": set("every variable of the server", "inherit", { inherit: "all" }),
  "settings/inherit-secret": set("the server's database and signing keys by name", "inheritNames", { inheritNames: ["DATABASE_URL"] }),
  "settings/inherit-star": set("every variable and Secret whose name begins with anything", "inheritNames", { inheritNames: ["*"] }),
  "settings/inherit-object": set("a Secret of the server's pod", "inheritNames", { inheritNames: ["paperclip-tls"] }),
  "settings/tolerate-control-plane": set("control-plane nodes", "tolerations", {
    tolerations: [{ key: "node-role.kubernetes.io/control-plane", operator: "Exists" }],
  }),
  "settings/tolerate-all": set("every taint", "tolerations", { tolerations: [{ operator: "Exists" }] }),
  "settings/node": set("one certain node", "nodeSelector", { nodeSelector: { "kubernetes.io/hostname": "the-database-node" } }),
  "settings/label-service": set("a label that joins the database's Service", "labels", { labels: { app: "postgres" } }),
  "settings/label-mesh": set("a label that a mesh reacts to, as a line of text", "labels", { labels: "sidecar.istio.io/inject=true" }),
  "settings/label-identity": set("a label that an identity injector reacts to", "labels", {
    labels: { "azure.workload.identity/use": "true" },
  }),
  "settings/runtime-class": set("another runtime class", "runtimeClassName", { runtimeClassName: "privileged" }),
  "settings/retain": set("that its Job and Secret are kept", "retainJobs", { retainJobs: true }),
  "settings/cpu": set("4,000 CPUs", "resources.limits.cpu", { "resources.limits.cpu": "4000" }),
  "settings/memory": set("a petabyte of memory", "resources.limits.memory", { "resources.limits.memory": "1Pi" }),
  "settings/year": set("a run of a year", "maxRunSec", { maxRunSec: 365 * 86_400 }),
  "settings/server-container": set("the environment of a sidecar of the server", "serverContainer", { serverContainer: "vault-agent" }),
  "settings/image": set("an image that the policy does not name", "image", { image: "registry.invalid/evil:1" }),
  "settings/other-workspace": {
    tries: "another company's workspace as its own folder",
    refused: "cwd",
    config: ({ stage }) => ({ cwd: `${stage.bed.data}/instances/default/workspaces/neighbour` }),
  },
  "settings/whole-volume": {
    tries: "the volume's root as its own folder",
    refused: "cwd",
    config: ({ stage }) => ({ cwd: stage.bed.data }),
  },
  "settings/database-folder": {
    tries: "the host's database folder, by .. from its workspace",
    refused: "cwd",
    config: ({ workspace }) => ({ cwd: `${workspace}/../../db` }),
  },
  "settings/wrong-kinds": {
    tries: "lists and objects where texts belong",
    refused: null,
    config: () => ({ runtimeClassName: { toString: 1 }, labels: [[[]]], graceSec: { valueOf: 1 }, resources: deep(1000) }),
  },
  "settings/instructions-environ": {
    tries: "the server's environment as its instructions",
    refused: "instructionsFilePath",
    config: () => ({ instructionsFilePath: ENVIRON }),
  },
  "settings/instructions-root": {
    tries: "the same by folder and file name",
    refused: "instructionsFilePath",
    config: () => ({ instructionsRootPath: "/proc/self", instructionsEntryFile: "environ" }),
  },
  "settings/instructions-link": {
    tries: "a link in its workspace to the server's environment as its instructions",
    refused: null,
    config: ({ workspace }) => ({ instructionsFilePath: linkTo(ENVIRON, `${workspace}/INSTRUCTIONS.md`) }),
  },
  "settings/instructions-package": {
    tries: "a link in a folder of its workspace that is named as the host's package, by way of /proc/self/root",
    refused: "instructionsFilePath",
    config: ({ workspace }) => {
      const link = linkTo(ENVIRON, `${workspace}/node_modules/@paperclipai/server/skills/x`);
      return { instructionsFilePath: `/proc/self/root${link}` };
    },
  },
  "settings/instructions-key": {
    tries: "a link in its workspace to the host's key, where the policy opens a folder elsewhere",
    refused: null,
    config: ({ stage, workspace }) => ({
      instructionsFilePath: linkTo(`${stage.bed.data}/instances/default/secrets/master.key`, `${workspace}/KEY.md`),
    }),
  },
  "settings/instructions-host": {
    tries: "the host's config.json as its instructions",
    refused: "instructionsFilePath",
    config: ({ stage }) => ({ instructionsFilePath: `${stage.bed.data}/instances/default/config.json` }),
  },
  "settings/instructions-endless": {
    tries: "an endless device as its instructions",
    refused: null,
    config: ({ workspace }) => ({ instructionsFilePath: linkTo("/dev/zero", `${workspace}/ENDLESS.md`) }),
  },
  "settings/server-variables": {
    tries: "variables with the names of the server's own settings",
    refused: null,
    config: () => ({
      env: { KUBECONFIG: "/evil", PAPERCLIP_K8S_POLICY: "/evil", PAPERCLIP_HOME: "/etc", HTTPS_PROXY: "http://127.0.0.1:1" },
    }),
  },
};
