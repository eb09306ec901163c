import { isLabelKey } from "@paperclip-k8s/engine";
import { isRecord } from "../../host/context-values.ts";
import { ConfigError, few, kindOf, quote } from "../config-error.ts";
import { field, ignored, type Raw, type Spec, type Unnamed, used } from "../field.ts";
import { badText, parsedText } from "./structured.ts";

/** A type and not an interface, so that it can be assigned to the manifest's plain records. */
type Toleration = {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
};

// Lt and Gt came with Kubernetes 1.35.
const OPERATORS = ["Exists", "Equal", "Lt", "Gt"];
const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** A list of tolerations or its JSON text; null = unset, [] = none on purpose. */
export function tolerations(spec: Spec): Unnamed<readonly Toleration[] | null> {
  return field<readonly Toleration[] | null>(spec, {
    kind: "tolerations",
    unset: null,
    form: { type: "textarea" },
    parse(value, key) {
      const items = typeof value === "string" ? parsedText(value) : value;
      if (!Array.isArray(items)) return ignored(badText(value) ?? `must be a list of tolerations or its JSON text, not ${kindOf(items)}`);
      try {
        const unknown = items.flatMap((item, index) => unknownKeys(item).map((name) => `${quote(name)} of item ${index + 1}`));
        const note = unknown.length === 0 ? null : `left out: ${few(unknown)}; a toleration has ${KNOWN.join(", ")}`;
        return used(
          items.map((item, index) => toleration(item, `${key}[${index}]`)),
          note,
        );
      } catch (error) {
        // The earlier adapters gave lists to Kubernetes as they were, which refused them too; of text they took nothing.
        if (typeof value === "string" && error instanceof ConfigError) return ignored(error.message.slice(key.length));
        throw error;
      }
    },
  });
}

const KNOWN = ["key", "operator", "value", "effect", "tolerationSeconds"];

const unknownKeys = (item: unknown): readonly string[] => (isRecord(item) ? Object.keys(item).filter((name) => !KNOWN.includes(name)) : []);

function toleration(item: unknown, at: string): Toleration {
  if (!isRecord(item)) throw new ConfigError(at, "must be an object");
  const result = {
    ...words(item, "key", at),
    ...words(item, "operator", at, OPERATORS),
    ...words(item, "value", at),
    ...words(item, "effect", at, EFFECTS),
    ...seconds(item, at),
  };
  agree(result, at);
  return result;
}

function words(given: Raw, name: string, at: string, allowed?: readonly string[]): Record<string, string> {
  const value = given[name];
  if (value === undefined || value === null || value === "") return {};
  if (typeof value !== "string") throw new ConfigError(`${at}.${name}`, `must be text, not ${quote(value)}`);
  if (allowed !== undefined && !allowed.includes(value))
    throw new ConfigError(`${at}.${name}`, `must be one of ${allowed.join(", ")}, not ${quote(value)}`);
  return { [name]: value };
}

function seconds(given: Raw, at: string): Pick<Toleration, "tolerationSeconds"> {
  const value = given.tolerationSeconds;
  if (value === undefined || value === null) return {};
  if (typeof value !== "number" || !Number.isInteger(value))
    throw new ConfigError(`${at}.tolerationSeconds`, `must be a whole number, not ${quote(value)}`);
  return { tolerationSeconds: value };
}

/** Rules that the API server checks only when it creates the pod, long after the Job: cheaper to check now. */
function agree(given: Toleration, at: string): void {
  if (given.key !== undefined && !isLabelKey(given.key)) throw new ConfigError(`${at}.key`, `${quote(given.key)} is not a valid taint key`);
  if (given.key === undefined && given.operator !== "Exists") throw new ConfigError(at, 'without a key needs operator "Exists"');
  if (given.operator === "Exists" && given.value !== undefined) throw new ConfigError(at, 'operator "Exists" takes no value');
  if (given.tolerationSeconds !== undefined && given.effect !== "NoExecute")
    throw new ConfigError(at, 'tolerationSeconds needs effect "NoExecute"');
}
