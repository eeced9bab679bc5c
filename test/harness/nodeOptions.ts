/**
 * Starts something whose Node.js processes get additional options, through the inherited environment. Do not use it
 * twice at the same time.
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
