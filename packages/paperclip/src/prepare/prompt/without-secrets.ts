import { MASK, SECRET_NAME, withoutTokens } from "./without-tokens.ts";

const OPTION = /^--?[A-Za-z][\w.-]*$/;
const KEY_NAME = /(^|[-_.])key$/i;
/** `name=value`, or `Name: value` as of a header. */
const ASSIGNMENT = /^([\w.-]+)(=|:\s*)(?=\S)(.+)$/s;

/** Arguments as they may be shown: behind a name that speaks of a secret stands no value. */
export function withoutSecrets(args: readonly string[]): string[] {
  return args.map((arg, at) => (hides(args[at - 1] ?? "", arg) ? MASK : masked(arg)));
}

function masked(arg: string): string {
  const [, name = "", sign = "", value = ""] = ASSIGNMENT.exec(arg) ?? [];
  if (isSecret(name, value)) return `${name}${sign}${MASK}`;
  // As text, and, where it is JSON, by its names too.
  return String(withoutTokens({ arg: ofJson(arg) ?? arg }).arg);
}

const hides = (option: string, value: string): boolean => OPTION.test(option) && !OPTION.test(value) && isSecret(option, value);

/** Numbers are counts: `--max-tokens 9`. */
function isSecret(name: string, value: string): boolean {
  return (SECRET_NAME.test(name) || KEY_NAME.test(name)) && !/^\d*$/.test(value);
}

function ofJson(arg: string): string | null {
  try {
    const value: unknown = JSON.parse(arg);
    return typeof value === "object" && value !== null ? JSON.stringify(withoutTokens({ value }).value) : null;
  } catch {
    return null;
  }
}
