import type { Readable, Writable } from 'node:stream';

/**
 * Rewrites one line of a watch, which is given without its newline.
 * `text` is sent unchanged: with a newline or, for a truncated line, without. `end` closes the response after it.
 */
export type Rewrite = (line: string) => { text: string; end?: boolean };

/** Forwards rewritten lines one by one. Drops the end of the source if it has no newline. */
export function rewriteLines(from: Readable, to: Writable, rewrite: Rewrite): void {
  let rest = '';
  from.setEncoding('utf8');
  from.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (to.writableEnded) return;
      const { text, end } = rewrite(line);
      to.write(text);
      if (end === true) to.end();
    }
  });
  from.once('end', () => to.end());
}
