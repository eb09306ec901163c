/** Something that differs from one recording to the next: replaced by the same text, or by a name that the same value always gets. */
export type Volatile = readonly [found: RegExp, as: string | ((count: number, ...groups: string[]) => string)];

/** Replaces what differs from one recording to the next by what does not, so that a new recording shows only real changes. */
export function createStabiliser(replacements: Readonly<Record<string, string>>, volatile: readonly Volatile[]): (text: string) => string {
  const names = new Map<string, string>();
  const counts = new Map<string, number>();

  // Values are counted by what their name looks like, so that each kind begins at 1.
  function named(value: string, groups: string[], make: (count: number, ...groups: string[]) => string): string {
    const known = names.get(value);
    if (known !== undefined) return known;
    const kind = make(0, ...groups);
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    names.set(value, make(count, ...groups));
    return make(count, ...groups);
  }

  return (text) => {
    let stable = text;
    for (const [from, to] of Object.entries(replacements)) stable = stable.replaceAll(from, to);
    for (const [found, as] of volatile)
      stable =
        typeof as === "string" ? stable.replace(found, as) : stable.replace(found, (value, ...rest) => named(value, groupsOf(rest), as));
    return stable;
  };
}

/** What follows the groups in a replacer's arguments is the place and the whole text. */
const groupsOf = (rest: readonly unknown[]): string[] => rest.slice(0, -2).map(String);
