import { expect, it } from 'vitest';
import { settingsOf } from './settings.ts';

const BACKEND = { static: { weight: 75 } };

it('come from the spec, with the weight of the step', () => {
  const spec = {
    ...{ clusterName: 'cluster-a', bindingDomain: 'example.org', annotationPrefix: 'dns.example.org' },
    ...{ healthCheckID: 'abc', recordTTL: 60, backend: BACKEND },
  };
  expect(settingsOf(spec, 20)).toEqual({
    ...{ clusterName: 'cluster-a', bindingDomain: 'example.org', annotationPrefix: 'dns.example.org' },
    ...{ healthCheckId: 'abc', recordTtl: 60, clusterWeight: 20 },
  });
});

it('have the prefix of k8s-traffic-controller, and all hosts, without a spec', () => {
  expect(settingsOf({ clusterName: 'cluster-a', backend: BACKEND }, 75)).toEqual({
    ...{ clusterName: 'cluster-a', bindingDomain: '', annotationPrefix: 'dns.adevinta.com', clusterWeight: 75 },
  });
});
