import { isRecord } from "../host/context-values.ts";
import { kindOf } from "../settings/config-error.ts";
import { ruleSettings, typedRuleSettings } from "./given-settings.ts";
import type { AgentMatch, AgentRule } from "./policy.ts";
import { type Reader, section, wrong } from "./readers.ts";

type Items = readonly string[] | undefined;

/** One text, or a list of them. */
const items =
  (pattern: RegExp, what: string): Reader<Items> =>
  (value, at, base, problems) => {
    const given: readonly unknown[] = Array.isArray(value) ? value : [value];
    const isUsable = given.length > 0 && given.every((item) => typeof item === "string" && pattern.test(item));
    return isUsable ? (given as readonly string[]) : wrong(base, problems, at, `must be ${what}, or a list of such`);
  };

// An id proves who an agent is: a pattern would prove nothing.
const ids = items(/^[A-Za-z0-9_-]+$/, "a whole id");
const patterns = items(/[^!]/, "a text");

const KEYS = { id: ids, company: ids, name: patterns, role: patterns, type: patterns };
const MATCH = section<{ readonly [Key in keyof typeof KEYS]: Items }>(KEYS);
const NOTHING = { id: undefined, company: undefined, name: undefined, role: undefined, type: undefined } satisfies AgentMatch;

export const agentRules: Reader<readonly AgentRule[]> = (value, at, base, problems) => {
  if (value === null) return base;
  if (!Array.isArray(value)) return wrong(base, problems, at, `must be a list, not ${kindOf(value)}`);
  return value.map((item: unknown, index) => {
    const place = `${at}[${index}]`;
    const isTyped = isRecord(item) && isRecord(item.match) && item.match.type !== undefined;
    const read = section<AgentRule>({
      match: (given, where, _, found) => MATCH(given, where, NOTHING, found),
      defaults: isTyped ? typedRuleSettings : ruleSettings,
    });
    const rule = read(item, place, { match: NOTHING, defaults: {} }, problems);
    if (Object.values(rule.match).every((each) => each === undefined))
      problems.push(`${place}.match: must have one or more of ${Object.keys(KEYS).join(", ")}`);
    return rule;
  });
};
