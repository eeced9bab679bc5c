import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { faultRows } from '../test/integration/stacks/faultTable.ts';

/** Checks the links and paths in the documents. */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DOCUMENTS = globSync(['*.md', 'docs/*.md', 'charts/*/README.md', 'test/*.md', 'test/lab/*.md'], {
  cwd: ROOT,
}).sort();

/** Short names of tests in documents: `integration/secrets` is test/integration/secrets.test.ts. */
const TEST = /^(?:integration|faults|chart|image|e2e)\/(?:\w+\/)?\w+$/;
/** Files and folders, relative to the root. */
const PATH = /^(?:src|test|scripts|deploy|charts|prometheus|dashboards)\/[\w./-]*$/;

/** The text without code blocks, which contain commands. */
const prose = (text: string): string => text.replaceAll(/^```.*?^```/gms, '');

/** Paths between backticks, relative to the root. */
function citedPaths(text: string): string[] {
  const quoted = [...prose(text).matchAll(/`([^`\n]+)`/g)].map(([, inner = '']) => inner);
  return [
    ...quoted.filter((each) => TEST.test(each)).map((each) => `test/${each}.test.ts`),
    ...quoted.filter((each) => PATH.test(each)),
  ];
}

/** Targets of links within the project. */
function linksOf(text: string): string[] {
  return [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors that GitHub gives to the headings of a document: lower case, no punctuation, hyphens for spaces. */
function anchorsOf(text: string): string[] {
  const headings = [...prose(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The reason why a link is broken; undefined if it is not. */
function problemOf(document: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? document : join(dirname(document), path);
  if (!existsSync(join(ROOT, file))) return `${link}: there is no ${file}`;
  if (anchor === undefined || !file.endsWith('.md')) return undefined;
  const isThere = anchorsOf(readFileSync(join(ROOT, file), 'utf8')).includes(anchor);
  return isThere ? undefined : `${link}: ${file} has no such heading`;
}

describe.each(DOCUMENTS)('%s', (document) => {
  const text = readFileSync(join(ROOT, document), 'utf8');

  it('names tests and files that exist', () => {
    expect(citedPaths(text).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('links to what is there', () => {
    expect(linksOf(text).flatMap((link) => problemOf(document, link) ?? [])).toEqual([]);
  });
});

/** For people who change the operator. */
const FOR_DEVELOPERS = ['CONTRIBUTING.md', 'docs/guards.md', 'test/lab/README.md', 'test/reports.md'];

it('pages for users cite no tests', () => {
  const pages = DOCUMENTS.filter((document) => !FOR_DEVELOPERS.includes(document));
  const cited = pages.flatMap((page) => citedPaths(readFileSync(join(ROOT, page), 'utf8')));
  expect(cited.filter((path) => path.endsWith('.test.ts'))).toEqual([]);
});

/** A path below src: of a folder, or of a file, which may have the name of one of its functions, such as `usage/pass/feed.ts#createUsageFeed`. */
const SOURCE =
  /^(?:(?:api|commands|connectivity|controllers|nodes|options|prometheus|runtime|usage|weights)(?:\/[\w/]+)?|[\w/]+\.ts)(?:\.ts)?(?:#\w+)?$/;

/** The paths below src between backticks that do not exist, and the names that their file does not have. */
function missingSources(text: string): string[] {
  const cited = [...prose(text).matchAll(/`([^`\n]+)`/g)].map(([, inner = '']) => inner);
  return cited.filter((each) => {
    const [path = '', name] = each.split('#');
    const file = join(ROOT, 'src', path);
    if (!SOURCE.test(each) || !existsSync(file)) return SOURCE.test(each);
    return (
      name !== undefined &&
      !new RegExp(`\\b(?:function|class|interface|const) ${name}\\b`).test(readFileSync(file, 'utf8'))
    );
  });
}

it('docs/architecture.md names files, folders and functions that exist', () => {
  expect(missingSources(readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8'))).toEqual([]);
  expect(
    missingSources('`usage/pass`, `main.ts`, `usage/none.ts`, `usage/pass/feed.ts#lost`, `prometheus.url`'),
  ).toEqual(['usage/none.ts', 'usage/pass/feed.ts#lost']);
});

it('finds what is cited, or it would prove nothing', () => {
  const all = DOCUMENTS.map((document) => readFileSync(join(ROOT, document), 'utf8'));
  expect(all.flatMap(citedPaths)).toEqual(
    expect.arrayContaining([
      'test/integration/transport.test.ts',
      'test/chart/rights.test.ts',
      'src/runtime/leaderElection/term.test.ts',
    ]),
  );
  expect(all.flatMap(linksOf)).toContain('../SECURITY.md');
  expect(citedPaths('a `faults/none`, `test/no/x.ts`, `kubectl get`\n```sh\n`test/in/block`\n```\n')).toEqual([
    'test/faults/none.test.ts',
    'test/no/x.ts',
  ]);
  expect(anchorsOf('# What a test of `X` costs, in s\n')).toEqual(['what-a-test-of-x-costs-in-s']);
});

it('docs/reliability.md has the number of the faults of a stack that are injected', () => {
  const text = readFileSync(join(ROOT, 'docs/reliability.md'), 'utf8');
  const numbers = [...text.matchAll(/(\d+) faults at once/g)].map(([, number]) => Number(number));
  expect(numbers).toEqual([faultRows().length]);
});
