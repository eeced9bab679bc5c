import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { helmTemplate, isHook, type Manifest } from '../../scripts/chart/helm.ts';

/**
 * docs/security.md has a table of rights for each profile of the chart. Here: it names exactly the resources that the roles of this profile have.
 * rights.test.ts, integration/stacks and integration/weights show by the audit log that these rights are used.
 */
const PAGE = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');
const SMALLEST = ['Labels', 'Measurement'];

interface Rule {
  readonly resources?: readonly string[];
}

/** Suffix of the roles of the process for DNS weights. */
const OF_WEIGHTS = '-weights';

const withoutSubresource = (resource: string): string => resource.split('/')[0] ?? '';

function granted(values: string, process: 'manager' | 'weights'): Set<string> {
  const isMeant = ({ kind, metadata }: Manifest): boolean =>
    /^(Cluster)?Role$/.test(kind) && metadata.name.endsWith(OF_WEIGHTS) === (process === 'weights');
  const roles = helmTemplate('--set', `metrics.secure=true,metrics.certSecret=x,${values}`).filter(
    (object) => !isHook(object) && isMeant(object),
  );
  const rules = roles.flatMap((role) => role.rules as readonly Rule[]);
  return new Set(rules.flatMap(({ resources = [] }) => resources.map(withoutSubresource)));
}

/** The words in backticks of the column "Right". */
function documented(sections: readonly string[]): Set<string> {
  const cells = sections.flatMap((section) => {
    const [, text = ''] = PAGE.split(`\n### ${section}\n`);
    const rows = text.split('\n### ')[0]?.match(/^\| [^|]+\|/gm) ?? [];
    return rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word));
  });
  return new Set(cells);
}

const EVERYTHING = 'stacks.enabled=true,connectivity.enabled=true,weights.enabled=true';
const KNOWN = new Set([...granted(EVERYTHING, 'manager'), ...granted(EVERYTHING, 'weights')]);

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
  ] as const)('are of exactly the resources that the chart grants: %s', (_profile, values, sections, process) => {
    const named = [...documented(sections)].filter((word) => KNOWN.has(word));
    expect(named.sort()).toEqual([...granted(values, process)].sort());
  });
});
