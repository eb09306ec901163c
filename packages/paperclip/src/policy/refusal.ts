import { ConfigError, quote } from "../settings/config-error.ts";
import { POLICY_VARIABLE } from "./load-policy.ts";
import { DEFAULT_POLICY, type Policy, type PolicyAllow } from "./policy.ts";

/** A setting that the operator's policy does not allow. */
interface Refusal {
  readonly field: string;
  /** What messages call the field, where that is not its key. */
  readonly name?: string;
  /** Why, and what in the policy would allow it. */
  readonly text: string;
}

type Lists = { [Key in keyof PolicyAllow]: PolicyAllow[Key] extends readonly string[] ? Key : never }[keyof PolicyAllow];
type Flags = Exclude<keyof PolicyAllow, Lists>;

/** Makes the refusals of one policy, so that each says where the policy is and what to write there. */
export class Refusals {
  readonly #policy: Policy;
  readonly found: Refusal[] = [];

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  /** `value` is not on a list. */
  notListed(field: string, list: Lists, value: string, what = quote(value)): void {
    const item = JSON.stringify(value);
    const whole = DEFAULT_POLICY.allow[list].length === 0 ? item : `"defaults", ${item}`;
    this.#add(field, `${what} is not allowed by`, `allow: { ${list}: [${whole}] }`, `add ${item} to allow.${list}`);
  }

  notOn(field: string, flag: Flags, what: string): void {
    this.#add(field, `${what} is not allowed by`, `allow: { ${flag}: true }`, `set allow.${flag} to true`);
  }

  tooMuch(field: string, limit: keyof Policy["limits"], value: string | number): void {
    const most = this.#policy.limits[limit];
    const item = JSON.stringify(value);
    this.#add(
      field,
      `${value} is more than ${most}, limits.${limit} of`,
      `limits: { ${limit}: ${item} }`,
      `set limits.${limit} to ${item}`,
    );
  }

  /** Whatever the policy says. */
  never(field: string, text: string): void {
    this.found.push({ field, text });
  }

  /** Throws everything that was found. */
  check(): void {
    if (this.found.length > 0) throw new PolicyError(this.found);
  }

  #add(field: string, why: string, line: string, change: string): void {
    const { source } = this.#policy;
    const text =
      source === null
        ? `${why} the operator's policy (no policy file: the defaults). To allow it, in the file that the server's ${POLICY_VARIABLE} names: ${line}`
        : `${why} the operator's policy (${source}). To allow it, ${change} there`;
    this.found.push({ field, text });
  }
}

/** The settings are refused; all reasons at once, one on each line. */
export class PolicyError extends ConfigError {
  readonly refusals: readonly Refusal[];

  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof ConfigError && value.name === "PolicyError";
  }

  constructor(refusals: readonly Refusal[]) {
    const [first] = refusals;
    super(first?.field ?? "", first?.text ?? "");
    this.name = "PolicyError";
    this.refusals = refusals;
    this.message = refusals.map(({ field, name = field, text }) => `${name}: ${text}`).join("\n");
  }

  override renamed(nameOf: (field: string) => string): PolicyError {
    return new PolicyError(this.refusals.map((refusal) => ({ ...refusal, name: nameOf(refusal.field) })));
  }
}
