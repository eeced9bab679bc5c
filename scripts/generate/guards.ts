import type { Break } from '../../test/guards/break.ts';
import { AREAS, type Area } from '../../test/guards/breaks.ts';
import type { GeneratedFile } from './file.ts';

const TEXT = `<!-- Generated from test/guards/breaks by \`make generate\`. Do not edit. -->

# Guards

A test that cannot fail proves nothing. This page lists promises of the operator, the file with the guard of each promise, and the test that
fails when the guard is broken. The breaks are code: each one replaces the text of a guard with a plausible mistake.

\`\`\`sh
make test-guards                      # all breaks
make test-guards ONLY=weights         # with this text in the promise, the file or the test; upper and lower case differ
make test-guards CHANGED=main         # whose file or test differs from this commit
make test-guards QUICK=1              # without those marked slow, which take more than a minute each, or need root
\`\`\`

The command copies the checkout to a temporary directory. There it first runs the tests without a break, which must pass. Then it applies
one break at a time, runs the test of the break, and prints whether the test caught it. It fails if a break is not caught, or no longer
applies to the code. It needs what the levels of the chosen tests need.

To add a promise, add a break to a file in [test/guards/breaks](../test/guards/breaks), run it with \`ONLY\`, and run \`make generate\`.`;

/** docs/guards.md: the promises whose guards `make test-guards` breaks. */
export function guardsPage(areas: readonly Area[] = AREAS): GeneratedFile[] {
  return [{ path: 'docs/guards.md', content: `${[TEXT, ...areas.map(section)].join('\n\n')}\n` }];
}

function section({ title, breaks }: Area): string {
  const rows = breaks.map(({ promise, file, test, slow }) => row([promise, code(file), testCell(test, slow)]));
  return [`## ${title}\n`, row(['Promise', 'Guard', 'Test']), '|---|---|---|', ...rows].join('\n');
}

function testCell({ path, name }: Break['test'], slow: Break['slow']): string {
  return [code(path), ...(name === undefined ? [] : [name]), ...(slow ? ['slow'] : [])].join(', ');
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}
