const suffixes: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

// undefined when it is no Kubernetes quantity.
export function parseQuantity(quantity: unknown): number | undefined {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d+))?$/.exec(String(quantity));
  if (!match) return undefined;
  return Number(match[1]) * (match[3] === undefined ? suffixes[match[2] ?? ""]! : 10 ** Number(match[3]));
}
