import { chmodSync, mkdirSync } from "node:fs";
import { type KubeCluster, openCluster } from "@paperclip-k8s/kube";
import watchCluster from "@paperclip-k8s/kube/watch-setup";
import type { TestProject } from "vitest/node";
import { removeAbandoned } from "../src/cluster/deployed.ts";
import { loadImage } from "../src/cluster/image.ts";
import { packAdapters } from "../src/packages/install.ts";
import { prepareChromium } from "../src/page/chromium.ts";
import { ARTEFACTS, picturesFolder } from "../src/page/pictures.ts";
import { preparePlaywright } from "../src/page/playwright.ts";
import { makeTemplate } from "../src/server/make-template.ts";
import { COMPILED, prepareRelease, VERSIONS } from "../src/server/release.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The node_modules with our packed adapters, and their names. */
    packed: { folder: string; names: string[]; inPlace: string[] };
    chromium: string;
  }
}

/** What needs our own user's rights, before the tests give them up: releases, browser and the packed adapters. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const say = (line: string) => console.log(line);
  for (const version of VERSIONS) await prepareRelease(version, say);
  mkdirSync(COMPILED, { recursive: true });
  chmodSync(COMPILED, 0o777);
  for (const version of VERSIONS) await makeTemplate(version, say);
  project.provide("chromium", await prepareChromium(say));
  await preparePlaywright(say);
  picturesFolder(ARTEFACTS);
  const packed = await packAdapters(say);
  project.provide("packed", { folder: packed.folder, names: [...packed.names], inPlace: [...packed.inPlace] });
  await onCluster(removeAbandoned);
  await onCluster((cluster) => loadImage(cluster, VERSIONS[0], packed, say)); // before files that need it would each make it
  const endWatch = await onCluster(async () => watchCluster());
  return async () => {
    await onCluster(removeAbandoned); // of a file whose process was killed
    await endWatch?.();
  };
}

/** Where there is one; tests that need it say so. */
async function onCluster<T>(act: (cluster: KubeCluster) => Promise<T>): Promise<T | undefined> {
  let cluster: KubeCluster;
  try {
    cluster = openCluster();
  } catch {
    return undefined;
  }
  return await act(cluster).finally(() => cluster.close());
}
