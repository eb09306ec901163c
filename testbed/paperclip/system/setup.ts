import type { TestProject } from "vitest/node";
import { packAdapter } from "../src/install.ts";
import { prepareRelease, VERSIONS } from "../src/release.ts";

declare module "vitest" {
  interface ProvidedContext {
    adapterPath: string;
  }
}

/** What needs our own user's rights, before the tests give them up: the releases from npm and the packed adapter. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const say = (line: string) => console.log(line);
  for (const version of VERSIONS) await prepareRelease(version, say);
  const given = process.env.ADAPTER_PATH; // one that is installed already, to skip the packing
  const packed = given ? { path: given, remove: async () => {} } : await packAdapter("adapter-opencode", say);
  project.provide("adapterPath", packed.path);
  return packed.remove;
}
