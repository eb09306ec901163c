import { withoutTrailing } from "@paperclip-k8s/engine";
import { ConfigError, quote } from "../config-error.ts";
import { type Ignored, ignored } from "../field.ts";

/** What Linux takes. */
const LONGEST_PATH = 4096;
const LONGEST_IMAGE = 512;

/** An absolute path without ".."; the message does not repeat it, since people paste whole files into path fields. */
export function absolutePath(value: string, key: string): string {
  if (value.length > LONGEST_PATH) throw new ConfigError(key, `must be a path of at most ${LONGEST_PATH} characters`);
  if (!value.startsWith("/") || value.split("/").includes("..") || value.includes("\n"))
    throw new ConfigError(key, 'must be an absolute path without ".."');
  return withoutTrailing(value, "/", 1);
}

/** A working folder: earlier adapters used it only where the host had prepared none, so a path that no program can start in is left out. */
export function workingFolder(value: string, key: string): string | Ignored {
  if (!value.startsWith("/")) return ignored("must be an absolute path");
  return absolutePath(value, key);
}

export function mountPath(value: string, key: string): string {
  const path = absolutePath(value, key);
  if (path === "/" || path.includes(":")) throw new ConfigError(key, 'must be a folder that a volume can be mounted at: not "/", no ":"');
  return path;
}

/** Names of namespaces and containers. */
export function dnsLabel(value: string, key: string): string {
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(value))
    throw new ConfigError(key, `must be a Kubernetes name (a-z, 0-9, "-", at most 63 characters), not ${quote(value)}`);
  return value;
}

/** Names of claims, service accounts, storage classes. */
export function dnsSubdomain(value: string, key: string): string {
  if (value.length > 253 || !/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(value))
    throw new ConfigError(key, `must be a Kubernetes name (a-z, 0-9, "-", "."), not ${quote(value)}`);
  return value;
}

export function imageReference(value: string, key: string): string {
  if (value.length > LONGEST_IMAGE) throw new ConfigError(key, `must be an image reference of at most ${LONGEST_IMAGE} characters`);
  if (!/^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/.test(value)) throw new ConfigError(key, `must be an image reference, not ${quote(value)}`);
  return value;
}
