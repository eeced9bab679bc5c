/**
 * Starts something whose Node.js processes get further options, by the environment that they inherit.
 * Not for two at once.
 */
export async function withNodeOptions<R>(options: string, startIt: () => Promise<R>): Promise<R> {
  const before = process.env.NODE_OPTIONS;
  process.env.NODE_OPTIONS = [before, options].filter(Boolean).join(' ');
  try {
    return await startIt();
  } finally {
    if (before === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = before;
  }
}
