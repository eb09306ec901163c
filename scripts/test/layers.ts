/** The layers of tests, from the quick one to the ones that need a cluster and real servers. */
export interface Layer {
  /** What a person types. */
  readonly command: string;
  /** Vitest's configuration file. */
  readonly config: string;
  /** What it shows and what it needs; the layer before it prints this. */
  readonly about: string;
  /** What to run after it. */
  readonly next: readonly LayerName[];
}

export type LayerName = "unit" | "kube" | "system";

export const LAYERS: Readonly<Record<LayerName, Layer>> = {
  unit: {
    command: "npm test",
    config: "vitest.config.ts",
    about: "unit, property and embedded-cluster tests; needs nothing",
    next: ["kube", "system"],
  },
  kube: {
    command: "npm run test:kube",
    config: "testbed/suite/vitest.kube.config.ts",
    about: "a real Kubernetes and the real CLIs; needs `npm run kube:up` (Linux, root, Debian packages, Go)",
    next: ["system"],
  },
  system: {
    command: "npm run test:system",
    config: "testbed/paperclip/vitest.config.ts",
    about: "real Paperclip servers and their pages in Chromium; needs `npm run kube:up` too",
    next: [],
  },
};

export const isLayer = (name: string | undefined): name is LayerName => name !== undefined && Object.hasOwn(LAYERS, name);
