import { type KubeCluster, openCluster } from "@paperclip-k8s/kube";
import type { TestProject } from "vitest/node";
import { loadImage } from "../src/cluster/image.ts";
import { type PackedAdapters, packAdapters } from "../src/install.ts";
import { prepareChromium } from "../src/page/chromium.ts";
import { ARTEFACTS, picturesFolder } from "../src/page/pictures.ts";
import { preparePlaywright } from "../src/page/playwright.ts";
import { prepareRelease, VERSIONS } from "../src/release.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The node_modules with our packed adapters, and their names. */
    packed: { folder: string; names: string[] };
    chromium: string;
  }
}

/** What needs our own user's rights, before the tests give them up: releases, browser and the packed adapters. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const say = (line: string) => console.log(line);
  for (const version of VERSIONS) await prepareRelease(version, say);
  project.provide("chromium", await prepareChromium(say));
  await preparePlaywright(say);
  picturesFolder(ARTEFACTS);
  const packed = await packAdapters(say);
  project.provide("packed", { folder: packed.folder, names: [...packed.names] });
  await prepareImage(packed, say);
  return packed.remove;
}

/** Once, before test files that need it at the same time would each make it. */
async function prepareImage(packed: PackedAdapters, say: (line: string) => void): Promise<void> {
  let cluster: KubeCluster;
  try {
    cluster = openCluster();
  } catch {
    return; // tests that need it say so
  }
  await loadImage(cluster, VERSIONS[0], packed, say).finally(() => cluster.close());
}
