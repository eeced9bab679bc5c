import { once } from 'node:events';
import { residentBytes } from './processUse.ts';

/** Option of a Node.js process whose garbage a test collects: it opens a debugger on loopback and logs its address. */
export const DEBUGGED = '--inspect=127.0.0.1:0';

/**
 * Resident memory of a Node.js process in bytes after its garbage has been collected. Without the collection, the figure
 * depends on when V8 last found time for one: later on a busy machine.
 *
 * @param process its pid, and its log, which contains the address of the debugger ({@link DEBUGGED})
 */
export async function residentAfterCollection(process: { readonly pid: number; log(): string }): Promise<number> {
  const [, address] = /^Debugger listening on (ws:\S+)$/m.exec(process.log()) ?? [];
  if (address === undefined) throw new Error('the log contains no address of a debugger');
  const debug = new WebSocket(address);
  await once(debug, 'open');
  try {
    // The first collection runs finalizers; the second one frees what they held.
    for (const id of [1, 2]) {
      const answer = once(debug, 'message');
      debug.send(JSON.stringify({ id, method: 'HeapProfiler.collectGarbage' }));
      const [{ data }] = (await answer) as [{ data: string }];
      if (!('result' in (JSON.parse(data) as object))) throw new Error(`the debugger answered ${data}`);
    }
  } finally {
    debug.close();
  }
  return residentBytes(process.pid);
}
