import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { helmTemplate, isHook, type Manifest } from '../../scripts/chart/helm.ts';

/**
 * docs/security.md has a table of rights for each profile of the chart. Here: it names exactly the resources that the roles of this profile have,
 * with exactly their verbs. rights.test.ts, integration/stacks and integration/weights show by the audit log that these rights are used.
 */
const PAGE = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');
const SMALLEST = ['Labels', 'Measurement'];
const VERBS = new Set(['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', '*']);

interface Rule {
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

/** Suffix of the roles of the process for DNS weights. */
const OF_WEIGHTS = '-weights';

/** Resources, with their subresources, and verbs: `patch trafficwatches/status`. */
function granted(values: string, process: 'manager' | 'weights'): Set<string> {
  const isMeant = ({ kind, metadata }: Manifest): boolean =>
    /^(Cluster)?Role$/.test(kind) && metadata.name.endsWith(OF_WEIGHTS) === (process === 'weights');
  const roles = helmTemplate('--set', `metrics.secure=true,metrics.certSecret=x,${values}`).filter(
    (object) => !isHook(object) && isMeant(object),
  );
  const rules = roles.flatMap((role) => role.rules as readonly Rule[]);
  return new Set(
    rules.flatMap(({ resources = [], verbs }) => resources.flatMap((each) => verbs.map((verb) => `${verb} ${each}`))),
  );
}

/** The rights in the column "Right". */
function documented(sections: readonly string[]): Set<string> {
  const cells = sections.flatMap((section) => {
    const [, text = ''] = PAGE.split(`\n### ${section}\n`);
    const rows = text.split('\n### ')[0]?.match(/^\| [^|]+\|/gm) ?? [];
    return rows.map((row) => row.slice(1, -1));
  });
  return new Set(cells.flatMap((cell, n) => rightsIn(cell, cells[n - 1] ?? '')));
}

/**
 * The rights of a cell, such as "`trafficwatches`: list, watch, patch; `/status`: patch".
 * @param before the cell above, whose resources are "the same"
 */
function rightsIn(cell: string, before: string): string[] {
  let last = cell.includes('the same') ? resourcesIn(before) : [];
  return cell.split(';').flatMap((clause) => {
    const named = resourcesIn(clause);
    if (named.length > 0) last = named;
    const subresources = wordsIn(clause).filter((word) => word.startsWith('/'));
    const resources = subresources.length === 0 ? last : subresources.flatMap((sub) => last.map((each) => each + sub));
    const verbs = clause
      .slice(clause.lastIndexOf(':') + 1)
      .split(/[\s,]+/)
      .filter((word) => VERBS.has(word));
    return resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`));
  });
}

const wordsIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
const resourcesIn = (text: string): string[] => wordsIn(text).filter((word) => KNOWN.has(word));

const EVERYTHING = 'stacks.enabled=true,connectivity.enabled=true,weights.enabled=true';
const KNOWN = new Set(
  (['manager', 'weights'] as const).flatMap((each) =>
    [...granted(EVERYTHING, each)].map((right) => right.split(' ')[1]!),
  ),
);

describe('the rights in docs/security.md', () => {
  it.each([
    ['label-only', 'trafficWatch.deployments.enabled=false', SMALLEST, 'manager'],
    ['the default values', 'stacks.enabled=false', [...SMALLEST, 'Deployments of TrafficWatches'], 'manager'],
    [
      'stacks of users',
      'stacks.enabled=true,weights.enabled=true',
      [...SMALLEST, 'Deployments of TrafficWatches', 'Stacks'],
      'manager',
    ],
    [
      'the connectivity check',
      'connectivity.enabled=true',
      [...SMALLEST, 'Deployments of TrafficWatches', 'Connectivity check'],
      'manager',
    ],
    ['DNS weights', 'weights.enabled=true', ['DNS weights'], 'weights'],
  ] as const)(
    'are exactly the resources and verbs that the chart grants: %s',
    (_profile, values, sections, process) => {
      expect([...documented(sections)].sort()).toEqual([...granted(values, process)].sort());
    },
  );
});
