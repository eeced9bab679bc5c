import type { Readable, Writable } from 'node:stream';

/**
 * What becomes of one line of a watch, given without its end.
 * `text` is sent as it is: with a newline or, as one that is cut off, without. `end` closes the answer after it.
 */
export type Rewrite = (line: string) => { text: string; end?: boolean };

/** Passes lines on one by one, rewritten. What the source never ended with a newline is left out. */
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
