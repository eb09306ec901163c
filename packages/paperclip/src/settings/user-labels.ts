import { labelValue } from "@paperclip-k8s/engine";
import type { TextMap } from "./kinds/structured.ts";

/** Prefixes of Kubernetes and of ourselves, and what the Job controller sets without one. */
const RESERVED_PREFIXES = ["app.kubernetes.io/", "paperclip.io/", "batch.kubernetes.io/", "kubernetes.io/", "k8s.io/"];
const RESERVED_KEYS = ["job-name", "controller-uid"];

/** The user's labels without reserved ones, values made valid; at most one warning for each of the two. */
export function userLabels(given: TextMap): { readonly labels: TextMap; readonly warnings: readonly string[] } {
  const skipped: string[] = [];
  const corrected: string[] = [];
  const labels: Record<string, string> = {};
  for (const [key, value] of Object.entries(given)) {
    if (isReserved(key)) {
      skipped.push(key);
      continue;
    }
    const valid = labelValue(value);
    labels[key] = valid.value;
    if (valid.changed) corrected.push(`${key}=${valid.value}`);
  }
  const warnings: string[] = [];
  if (skipped.length > 0) warnings.push(`labels: skipped, their keys are reserved: ${skipped.join(", ")}`);
  if (corrected.length > 0) warnings.push(`labels: values made valid (63 characters, A-Z a-z 0-9 _ . -): ${corrected.join(", ")}`);
  return { labels, warnings };
}

function isReserved(key: string): boolean {
  return RESERVED_KEYS.includes(key) || RESERVED_PREFIXES.some((prefix) => key.startsWith(prefix));
}
