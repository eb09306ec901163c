/** The results in the order of the items; never more than so many calls at once, since the host refuses a ninth list of one client. */
export async function aFewAtOnce<T, R>(items: readonly T[], most: number, act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  return results;
}
