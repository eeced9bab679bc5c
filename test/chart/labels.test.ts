import { beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { helmTemplate, isHook, type Manifest } from '../../scripts/chart/helm.ts';
import { VALUE_SETS } from './valueSets.ts';

/** Labels that every object of a release has, and labels that no object may have. */
const COMMON = { team: 'net', 'example.com/cost': 'c1' };

describe.each(Object.entries(VALUE_SETS))('the chart with %s', (name, values) => {
  let objects: readonly Manifest[];
  beforeAll(() => {
    const all = Object.entries({ ...values, commonLabels: COMMON });
    objects = helmTemplate(...all.flatMap(([key, value]) => ['--set-json', `${key}=${JSON.stringify(value)}`]));
  });

  it('puts common labels on every object', () => {
    const missing = objects.filter(({ metadata }) =>
      Object.entries(COMMON).some(([key, value]) => metadata.labels?.[key] !== value),
    );
    expect(missing.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([]);
    if (name !== 'defaults') return;
    // Those that are written apart from the others are among them.
    expect(objects.some(isHook)).toBe(true);
    expect(objects.map(({ kind }) => kind)).toContain('CustomResourceDefinition');
  });

  it('aggregates no right to admin, edit or view, which people have in their namespaces', () => {
    expect(stringify(objects)).not.toMatch(/rbac\.authorization\.k8s\.io\/aggregate-to-|aggregationRule/);
  });
});
