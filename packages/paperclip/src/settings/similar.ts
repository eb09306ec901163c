/** Shorter words resemble too many others. */
const SHORTEST = 5;

/**
 * What may be meant by a name that nobody has: something called so but for case, plural and unit; else what ends in it behind a dot; else
 * the only one that begins so, or one that differs by one typing mistake.
 */
export function similar<T>(given: string, candidates: readonly T[], namesOf: (candidate: T) => readonly string[]): readonly T[] {
  const wanted = plain(given);
  const named = candidates.map((candidate) => ({ candidate, names: namesOf(candidate).map(plain) }));
  const fitting = (fits: (name: string) => boolean) => named.filter(({ names }) => names.some(fits)).map(({ candidate }) => candidate);
  const same = fitting((name) => name === wanted);
  if (same.length > 0) return same.slice(0, 1);
  const ending = fitting((name) => name.endsWith(`.${wanted}`));
  if (ending.length > 0 || wanted.length < SHORTEST) return ending;
  const begun = fitting((name) => name.startsWith(wanted));
  return begun.length === 1 ? begun : fitting((name) => isMistyped(wanted, name)).slice(0, 1);
}

/** One letter more, less or different, or two neighbours swapped. */
function isMistyped(given: string, wanted: string): boolean {
  const length = Math.min(given.length, wanted.length);
  let start = 0;
  while (start < length && given[start] === wanted[start]) start++;
  let end = 0;
  while (end < length - start && given.at(-1 - end) === wanted.at(-1 - end)) end++;
  const [one, other] = [given.slice(start, given.length - end), wanted.slice(start, wanted.length - end)];
  const isSwapped = one.length === 2 && other === `${one[1]}${one[0]}`;
  return wanted.length >= SHORTEST && (isSwapped || Math.max(one.length, other.length) <= 1);
}

const plain = (key: string): string =>
  key
    .toLowerCase()
    .replace(/[^a-z0-9.]/g, "")
    .replace(/(seconds|secs|sec)$/, "")
    .replace(/s(?=\.|$)/g, "");
