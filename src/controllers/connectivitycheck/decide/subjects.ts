import type { FindingClass } from '../../../api/connectivitycheck/finding.ts';

const ELLIPSIS = '…';
const MORE = /^and (\d+) more$/;
const LINK = / (<?->) /;

/** What identifies a finding from one evaluation to the next. */
export interface Fault {
  readonly class: FindingClass;
  readonly subjects: readonly string[];
}

/**
 * Shortens a name to `most` characters by leaving out its middle: names of nodes and pods differ at their ends. Both
 * ends of a link keep their share.
 */
export function shortName(name: string, most: number): string {
  if (name.length <= most) return name;
  const [from = '', arrow, to] = name.split(LINK);
  if (arrow !== undefined && to !== undefined) {
    const each = Math.floor((most - arrow.length - 2) / 2);
    return `${shortName(from, each)} ${arrow} ${shortName(to, each)}`;
  }
  const head = Math.floor((most - 1) / 3);
  return `${name.slice(0, head)}${ELLIPSIS}${name.slice(name.length - (most - 1 - head))}`;
}

/** The first `count` subjects with at most `most` characters each, and how many are left out. */
export function shortSubjects(subjects: readonly string[], count: number, most: number): string[] {
  const { shown, total } = parse(subjects);
  const kept = shown.slice(0, count).map((subject) => shortName(subject, most));
  return total > kept.length ? [...kept, `and ${total - kept.length} more`] : kept;
}

/** Whether two faults are the same, also if the subjects of one or both were shortened for a status. */
export function isSameFault(a: Fault, b: Fault): boolean {
  if (a.class !== b.class) return false;
  const [one, other] = [parse(a.subjects), parse(b.subjects)];
  const count = Math.min(one.shown.length, other.shown.length);
  return (
    one.total === other.total &&
    one.shown.slice(0, count).every((subject, place) => isSameName(subject, other.shown[place] ?? ''))
  );
}

function parse(subjects: readonly string[]): { shown: readonly string[]; total: number } {
  const more = MORE.exec(subjects.at(-1) ?? '')?.[1];
  if (more === undefined) return { shown: subjects, total: subjects.length };
  return { shown: subjects.slice(0, -1), total: subjects.length - 1 + Number(more) };
}

function isSameName(a: string, b: string): boolean {
  return a === b || fits(a, b) || fits(b, a);
}

/** Whether `short` can be made of `name` by leaving out characters where it has an ellipsis. */
function fits(name: string, short: string): boolean {
  const parts = short.split(ELLIPSIS);
  if (parts.length === 1 || name.length < short.length) return false;
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let from = 0;
  for (const part of parts) {
    const at = name.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return true;
}
