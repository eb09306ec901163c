import { type Admin, openAdmin } from "./admin.ts";
import { type Description, readDescription } from "./description.ts";
import { keeper } from "./node-namespaces.ts";
import { kill, signal } from "./processes.ts";
import type { ProgramName } from "./programs.ts";
import { settingsFrom } from "./settings.ts";
import { apiServerReady, nodeReady, startProgram } from "./start-programs.ts";
import { noteStarted, noteStopped } from "./stopped.ts";

export { type Admin, ApiFailure } from "./admin.ts";
export type { Description } from "./description.ts";
export { loadTestImage } from "./images/load-image.ts";
export { type ImageSettings, type Layer, NodeImages } from "./images/node-images.ts";
export type { TestImageName } from "./images/test-images.ts";
export { type OtherNode, otherNode } from "./other-node.ts";
export { type NodeWatch, watchNode } from "./watch-node.ts";

/** The running cluster: where everything is, requests as its administrator, and faults made for real. */
export interface KubeCluster extends Description {
  readonly admin: Admin;
  /** SIGKILL: connections break, new ones are refused. */
  killApiServer(): Promise<void>;
  /** Gives back when it is ready. */
  startApiServer(): Promise<void>;
  /** SIGSTOP: connections stay open and nobody answers, as when the network swallows every packet. */
  pauseApiServer(): void;
  resumeApiServer(): Promise<void>;
  /** SIGKILL: the node falls silent while its containers go on. */
  stopKubelet(): Promise<void>;
  /** Gives back when the node is Ready again. */
  startKubelet(): Promise<void>;
  /** Ends the connections of `admin`; the cluster stays. */
  close(): void;
}

export function openCluster(env: NodeJS.ProcessEnv = process.env): KubeCluster {
  const { dir } = settingsFrom(env);
  const description = readDescription(dir);
  if (description === null || keeper(dir) === undefined) throw new Error(`no real Kubernetes is running in ${dir}: run npm run kube:up`);
  const { programs, nodeName } = description;
  const admin = openAdmin(description.server, dir);
  const program = (name: ProgramName) => programs[name][0];
  const stop = (name: ProgramName) => {
    noteStopped(dir, name);
    return kill(program(name));
  };
  return {
    ...description,
    admin,
    killApiServer: () => stop("kube-apiserver"),
    startApiServer: async () => {
      await startProgram(dir, programs, "kube-apiserver");
      await apiServerReady(admin);
      noteStarted(dir, "kube-apiserver");
    },
    pauseApiServer: () => {
      noteStopped(dir, "kube-apiserver");
      signal(program("kube-apiserver"), "SIGSTOP");
    },
    resumeApiServer: async () => {
      signal(program("kube-apiserver"), "SIGCONT");
      await apiServerReady(admin);
      noteStarted(dir, "kube-apiserver");
    },
    stopKubelet: () => stop("kubelet"),
    startKubelet: async () => {
      await startProgram(dir, programs, "kubelet");
      await nodeReady(admin, nodeName);
      noteStarted(dir, "kubelet");
    },
    close: () => admin.close(),
  };
}
