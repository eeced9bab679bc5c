import type { ConnectivityCheckStatus, StatusFinding } from '../../../api/connectivitycheck/connectivityCheck.ts';
import { MOST_EXCLUDED, MOST_FINDINGS } from '../../../connectivity/protocol/evaluation.ts';
import { cut } from '../../../runtime/controller/conditions.ts';
import { LINK, namesIn } from '../model/subjects.ts';

/** Largest status as JSON. It must stay below 16 KiB; the rest is for the spaces that kubectl and etcd do not count. */
const LARGEST_STATUS_BYTES = 16 * 1024 - 256;

/** Limits: numbers of entries, and characters of texts. */
interface Limits {
  readonly message: number;
  readonly subjects: number;
  readonly name: number;
  readonly pairs: number;
  readonly measured: number;
  readonly excluded: number;
  readonly outageSubjects: number;
  readonly outageName: number;
}

/**
 * The limits from wide to narrow. The last leave room for 100 outages if there are five findings of one subject each, and for
 * more than 60 if there are twelve findings of six links each.
 */
const LEVELS: readonly Limits[] = [
  {
    message: 500,
    subjects: 5,
    name: 253,
    pairs: 3,
    measured: 100,
    excluded: MOST_EXCLUDED,
    outageSubjects: 3,
    outageName: 80,
  },
  {
    message: 300,
    subjects: 3,
    name: 80,
    pairs: 2,
    measured: 60,
    excluded: MOST_EXCLUDED,
    outageSubjects: 1,
    outageName: 48,
  },
  {
    message: 160,
    subjects: 1,
    name: 63,
    pairs: 1,
    measured: 60,
    excluded: MOST_EXCLUDED,
    outageSubjects: 1,
    outageName: 32,
  },
  { message: 100, subjects: 1, name: 48, pairs: 0, measured: 0, excluded: 5, outageSubjects: 1, outageName: 24 },
  { message: 40, subjects: 1, name: 24, pairs: 0, measured: 0, excluded: 3, outageSubjects: 1, outageName: 24 },
];

/**
 * Shortens texts and lists as little as possible, until the status fits. If that is not enough, it leaves out the oldest
 * outages. A status that fits is unchanged.
 */
export function fit(status: ConnectivityCheckStatus): ConnectivityCheckStatus {
  let fitted = status;
  for (const limits of LEVELS) {
    fitted = within(status, limits);
    if (sizeOf(fitted) <= LARGEST_STATUS_BYTES) return fitted;
  }
  return withoutOldest(fitted);
}

/** Bytes of the status as JSON. */
export function sizeOf(status: ConnectivityCheckStatus): number {
  return new TextEncoder().encode(JSON.stringify(status)).length;
}

function within(status: ConnectivityCheckStatus, limits: Limits): ConnectivityCheckStatus {
  const { findings = [], excluded = [], outages = [], conditions = [], summary } = status;
  const beyond = Math.max(0, findings.length - MOST_FINDINGS);
  const domain = domainOf(status);
  return {
    ...status,
    ...(summary === undefined ? {} : { summary: cut(summary, limits.name + 40) }),
    conditions: conditions.map((one) => ({ ...one, message: cut(one.message, limits.message) })),
    findings: findings.slice(0, MOST_FINDINGS).map((finding) => shortFinding(finding, limits, domain)),
    ...(beyond === 0 ? {} : { omittedFindings: (status.omittedFindings ?? 0) + beyond }),
    excluded: excluded
      .slice(0, limits.excluded)
      .map(({ node, reason }) => ({ node: shortName(node, limits.name, domain), reason })),
    outages: outages.map((outage) => ({
      ...outage,
      subjects: shortSubjects(outage.subjects, limits.outageSubjects, limits.outageName, domain),
    })),
  };
}

/** Returns the domain that all nodes share. Without it, names of a cloud's nodes differ at their ends, which `shortName` keeps. */
function domainOf({ findings = [], excluded = [], outages = [] }: ConnectivityCheckStatus): string | undefined {
  const subjects = [...findings, ...outages].flatMap(({ subjects: own }) => own);
  return sharedDomain([...subjects.flatMap(namesIn), ...excluded.map(({ node }) => node)]);
}

function shortFinding(finding: StatusFinding, limits: Limits, domain: string | undefined): StatusFinding {
  const { message, subjects, evidence } = finding;
  const pairs = evidence.pairs.slice(0, limits.pairs).map((pair) => ({
    from: shortName(pair.from, limits.name, domain),
    to: shortName(pair.to, limits.name, domain),
    plane: pair.plane,
    measured: cut(pair.measured, limits.measured),
  }));
  return {
    ...finding,
    subjects: shortSubjects(subjects, limits.subjects, limits.name, domain),
    message: cut(message, limits.message),
    evidence: { ...evidence, pairs },
  };
}

function withoutOldest(status: ConnectivityCheckStatus): ConnectivityCheckStatus {
  let { outages = [] } = status;
  while (outages.length > 0 && sizeOf({ ...status, outages }) > LARGEST_STATUS_BYTES) outages = outages.slice(0, -1);
  return { ...status, outages };
}

const ELLIPSIS = '…';
const MORE = /^and (\d+) more$/;

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
