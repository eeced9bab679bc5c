/** More concurrent writers do not make an API server on two cores faster. */
const WRITERS = 16;

/** Does the work of all items, some at a time. Rejects with the first failure. */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      for (const item of queue) await work(item);
    }),
  );
}
