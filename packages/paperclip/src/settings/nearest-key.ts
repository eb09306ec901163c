const SHORTEST = 5;

/** The known key that an unknown one was probably meant to be: other case, other unit, or a letter or two off. */
export function nearest(key: string, known: readonly string[]): string | null {
  const plain = known.find((candidate) => normal(candidate) === normal(key));
  if (plain !== undefined) return plain;
  // Short words are near to many others: "mode" is the host's own.
  const candidates = known.filter((candidate) => Math.min(candidate.length, key.length) >= SHORTEST);
  const measured = candidates.map((candidate) => ({ candidate, distance: distance(key.toLowerCase(), candidate.toLowerCase()) }));
  const best = measured.sort((a, b) => a.distance - b.distance)[0];
  if (best === undefined) return null;
  return best.distance <= (best.candidate.length < 9 ? 1 : 2) ? best.candidate : null;
}

function normal(key: string): string {
  return key
    .toLowerCase()
    .replace(/[^a-z0-9.]/g, "")
    .replace(/(seconds|secs|sec)$/, "");
}

/** Edits between two words, a swap of neighbours counting as one. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const changed = previous[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      const best = Math.min(changed, previous[column]! + 1, current[column - 1]! + 1);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(swapped ? Math.min(best, before[column - 2]! + 1) : best);
    }
    before = previous;
    previous = current;
  }
  return previous[b.length]!;
}
