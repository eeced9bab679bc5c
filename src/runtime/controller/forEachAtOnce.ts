/**
 * Calls `work` for each item, at most `atOnce` at a time, in the order of the items.
 *
 * @throws the first error of `work`; calls that have begun go on
 */
export async function forEachAtOnce<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
