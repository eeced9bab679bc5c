import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A way to write that readers stumble over. */
export interface Pattern {
  readonly name: string;
  /** With the flags `gi` or `g`. */
  readonly pattern: RegExp;
  /** What to write instead. */
  readonly write: string;
  /** Only in sources: comments that document. */
  readonly inSources?: true;
}

export const PATTERNS: readonly Pattern[] = [
  { name: 'somebody else', pattern: /\bsomebody else\b/gi, write: 'another owner, or who it is' },
  { name: 'that of', pattern: /\b(?:that|those) of\b/gi, write: 'the noun again' },
  { name: 'another one', pattern: /\b(?:another|the other) one\b/gi, write: 'the name of the other' },
  { name: 'in place of', pattern: /\bin place of\b/gi, write: 'instead of' },
  { name: 'anew', pattern: /\banew\b/gi, write: 'again' },
  { name: 'beside', pattern: /\bbeside\b/gi, write: 'next to, or besides' },
  { name: 'is told', pattern: /\b(?:is|are|was|were) told\b|\btells? that\b/gi, write: 'reports, shows' },
  { name: 'any more', pattern: /\bany more\b(?! than)/gi, write: 'no longer' },
  { name: 'stays as it is', pattern: /\bstays? as (?:it is|they are)\b/gi, write: 'is unchanged' },
  { name: 'too, at the end', pattern: /, too(?=[.;:)])/g, write: 'also' },
  {
    name: 'a doc comment without a subject',
    pattern: /\/\*\*\s+(?:\*\s+)?(?:Of|That of|Those|That|What|Until what)\b/g,
    write: 'subject, verb, object',
    inSources: true,
  },
];

/** The texts in which patterns are refused. */
const TEXTS = [
  ...['*.md', 'docs/**/*.md', 'charts/**/*.md', 'src/**/*.ts', 'test/**/*.ts', 'scripts/**/*.ts', 'scripts/**/*.sh'],
  ...['charts/traffic-operator/templates/*.{yaml,tpl,txt}', 'deploy/samples/*.yaml', 'Makefile'],
];

/** A place where a pattern occurs. */
export interface Place {
  readonly pattern: string;
  /** `path:line: the line` */
  readonly at: string;
}

/** The places where one of the patterns occurs in a text. Lines are counted from 1. */
export function placesIn(text: string, path: string): Place[] {
  const lines = text.split('\n');
  return PATTERNS.filter(({ inSources }) => inSources !== true || path.endsWith('.ts')).flatMap(({ name, pattern }) =>
    [...text.matchAll(pattern)].map(({ index }) => {
      const line = text.slice(0, index).split('\n').length;
      return { pattern: name, at: `${path}:${line}: ${lines[line - 1]!.trim()}` };
    }),
  );
}

/** All places in a project. Files that name the patterns themselves are left out. */
export function allPlaces(root: string): Place[] {
  const paths = new Set(TEXTS.flatMap((glob) => globSync(glob, { cwd: root })));
  const read = [...paths].filter((path) => !path.includes('node_modules/') && !path.startsWith('scripts/wording'));
  return read.sort().flatMap((path) => placesIn(readFileSync(join(root, path), 'utf8'), path));
}
