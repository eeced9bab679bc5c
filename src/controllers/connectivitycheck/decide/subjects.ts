const ELLIPSIS = '…';
const MORE = /^and (\d+) more$/;
const LINK = / (<?->) /;

/**
 * Shortens a name to `most` characters. It loses the domain first, and then its middle: names of nodes and pods differ at
 * their ends. Both ends of a link keep their share.
 *
 * @param domain what all names with a dot have from their first dot on, such as `.eu-west-1.compute.internal`
 */
export function shortName(name: string, most: number, domain?: string): string {
  if (name.length <= most) return name;
  const [from = '', arrow, to] = name.split(LINK);
  if (arrow !== undefined && to !== undefined) {
    const each = Math.floor((most - arrow.length - 2) / 2);
    return `${shortName(from, each, domain)} ${arrow} ${shortName(to, each, domain)}`;
  }
  if (domain !== undefined && name.endsWith(domain)) return shortName(name.slice(0, -domain.length), most);
  const head = Math.floor((most - 1) / 3);
  return `${name.slice(0, head)}${ELLIPSIS}${name.slice(name.length - (most - 1 - head))}`;
}

/** The first `count` subjects with at most `most` characters each, and how many are left out. */
export function shortSubjects(subjects: readonly string[], count: number, most: number, domain?: string): string[] {
  const { shown, total } = parse(subjects);
  const kept = shown.slice(0, count).map((subject) => shortName(subject, most, domain));
  return total > kept.length ? [...kept, `and ${total - kept.length} more`] : kept;
}

/** The nodes, zones or pods that a subject names: both ends of a link. */
export function namesIn(subject: string): string[] {
  const [from = '', arrow, to] = subject.split(LINK);
  return arrow !== undefined && to !== undefined ? [from, to] : [subject];
}

/** Returns the text from the first dot on that all names with a dot share. Undefined if it differs, or no name has a dot. */
export function sharedDomain(names: readonly string[]): string | undefined {
  const domains = new Set(names.filter((name) => name.includes('.')).map((name) => name.slice(name.indexOf('.'))));
  return domains.size === 1 ? [...domains][0] : undefined;
}

function parse(subjects: readonly string[]): { shown: readonly string[]; total: number } {
  const more = MORE.exec(subjects.at(-1) ?? '')?.[1];
  if (more === undefined) return { shown: subjects, total: subjects.length };
  return { shown: subjects.slice(0, -1), total: subjects.length - 1 + Number(more) };
}
