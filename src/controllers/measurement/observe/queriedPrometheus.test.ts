import { expect, it } from 'vitest';
import type { ComponentSpec, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { trimToUses, usedServerOf } from './queriedPrometheus.ts';

const LARGE = 'x'.repeat(100_000);
const USED = { kind: 'Service', namespace: 'monitoring', name: 'prometheus', url: 'http://prometheus.monitoring:9090' };

function stackWith(
  mode: ComponentSpec['mode'],
  objects: number,
  metadata: TrafficStack['metadata'] = {},
): TrafficStack {
  const object = { kind: 'Service', namespace: 'op', name: 'prometheus' };
  const state = { state: 'Ready', reason: '', message: '', since: '' } as const;
  return {
    metadata: { name: 'default', resourceVersion: '7', labels: { LARGE }, annotations: { LARGE }, ...metadata },
    spec: {
      components: [
        { name: 'metrics', type: 'Prometheus', ...(mode !== undefined && { mode }) },
        { name: 'web', type: 'Workload', files: { LARGE } } as unknown as ComponentSpec,
      ],
    },
    status: {
      components: [{ name: 'metrics', type: 'Prometheus', ...state, uses: USED }],
      inventory: [{ component: 'metrics', dependsOn: [], objects: Array.from({ length: objects }, () => object) }],
    },
  };
}

it.each([
  ['uses another Prometheus', stackWith('Auto', 0), USED.url],
  ['has a Prometheus of its own', stackWith('Auto', 3), undefined],
  ['is about to make one', stackWith(undefined, 0), undefined],
  ['is deleted', stackWith('Auto', 0, { deletionTimestamp: new Date(0) }), undefined],
])('a TrafficStack that %s shows the URL also without the parts that are not read', (_, stack, url) => {
  const kept = trimToUses(stack);
  const urls = [stack, kept].map(
    (each) => usedServerOf({ informer: { lister: { list: () => [each] } } as never })()?.url,
  );
  expect(urls).toEqual([url, url]);
  expect(JSON.stringify(kept).length).toBeLessThan(1_000);
});

it('no stack chooses the Prometheus while none is watched', () => {
  expect(usedServerOf(undefined)()).toBeUndefined();
});
