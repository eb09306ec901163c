import type { Cause } from "./status.ts";

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const qualifiedName = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

export const invalidValue = (field: string, value: unknown, why: string): Cause => ({
  reason: "FieldValueInvalid",
  message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
  field,
});

export const required = (field: string, why = ""): Cause => ({
  reason: "FieldValueRequired",
  message: why === "" ? "Required value" : `Required value: ${why}`,
  field,
});

export const isDnsLabel = (name: string): boolean => name.length <= 63 && dnsLabel.test(name);

const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const nameRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

export function checkName(name: unknown, maxLength = 253): Cause[] {
  if (typeof name !== "string" || name === "") return [required("metadata.name", "name or generateName is required")];
  if (name.length > maxLength) return [invalidValue("metadata.name", name, `must be no more than ${maxLength} characters`)];
  return subdomain.test(name) ? [] : [invalidValue("metadata.name", name, subdomainRule)];
}

function checkKey(key: string, field: string): Cause[] {
  const parts = key.split("/");
  const name = parts.at(-1)!;
  if (parts.length > 2 || name.length > 63 || !qualifiedName.test(name)) return [invalidValue(field, key, nameRule)];
  if (parts.length === 2 && !subdomain.test(parts[0]!)) return [invalidValue(field, key, `prefix part ${subdomainRule}`)];
  return [];
}

export function checkLabels(labels: unknown, field: string): Cause[] {
  return Object.entries((labels ?? {}) as Record<string, unknown>).flatMap(([key, value]) => {
    const text = String(value);
    if (text.length > 63) return [...checkKey(key, field), invalidValue(field, text, "must be no more than 63 characters")];
    return [...checkKey(key, field), ...(text === "" || qualifiedName.test(text) ? [] : [invalidValue(field, text, labelRule)])];
  });
}

const annotationLimit = 256 * 1024;

export function checkAnnotations(annotations: unknown): Cause[] {
  const entries = Object.entries((annotations ?? {}) as Record<string, string>);
  const size = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)), 0);
  const keys = entries.flatMap(([key]) => checkKey(key.toLowerCase(), "metadata.annotations"));
  if (size <= annotationLimit) return keys;
  return [
    ...keys,
    { reason: "FieldValueTooLong", message: `Too long: may not be more than ${annotationLimit} bytes`, field: "metadata.annotations" },
  ];
}
