import { describe, expect, it } from 'vitest';
import { aForeignWatch, aWatch } from '../testing/observations.ts';
import { deploymentProblem } from './observe.ts';

describe('a TrafficWatch shop/web with spec.deployment', () => {
  it.each([
    { why: 'no limit', enabled: true, namespaces: [], names: undefined },
    { why: 'its namespace is in the list', enabled: true, namespaces: ['lab', 'shop'], names: undefined },
    {
      why: 'only a namespace with a similar name is in the list',
      ...{ enabled: true, namespaces: ['shop-2'] },
      names: 'add it to trafficWatch.deployments.namespaces of the chart (--deployment-namespace)',
    },
    {
      why: 'Deployments are off, whatever the list',
      ...{ enabled: false, namespaces: ['shop'] },
      names: 'set trafficWatch.deployments.enabled of the chart to true (--deployments)',
    },
  ])('has a problem that names the value to set, or none: $why', ({ enabled, namespaces, names }) => {
    const problem = deploymentProblem(aWatch(), { enabled, namespaces });
    if (names === undefined) expect(problem).toBeUndefined();
    else expect(problem).toContain(names);
  });

  it('is not told which other namespaces are allowed', () => {
    expect(deploymentProblem(aWatch(), { enabled: true, namespaces: ['secret-project'] })).not.toContain('secret');
  });
});

it('a TrafficWatch of a workload that exists has no problem where Deployments are off', () => {
  const watch = aForeignWatch({ podSelector: { matchLabels: { app: 'web' } } });
  expect(deploymentProblem(watch, { enabled: false, namespaces: [] })).toBeUndefined();
});
