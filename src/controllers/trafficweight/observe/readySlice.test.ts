import { expect, it } from 'vitest';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { trimSlice } from './readySlice.ts';

function slice(endpoints: unknown): KubeObject {
  const labels = { 'kubernetes.io/service-name': 'web' };
  return { metadata: { name: 'web-1', namespace: 'shop', resourceVersion: '7', labels }, endpoints } as KubeObject;
}

it.each([
  ['an endpoint that is ready', [{ conditions: { ready: true } }], true],
  ['one of two', [{ conditions: { ready: false } }, { conditions: { ready: true } }], true],
  ['one of unknown readiness', [{ conditions: {} }], true],
  ['one without conditions', [{}], true],
  ['one that is not', [{ conditions: { ready: false } }], false],
  ['no endpoint', [], false],
  ['a null instead of the list', null, false],
])('with %s', (_, endpoints, isReady) => {
  expect(trimSlice(slice(endpoints))).toEqual({
    ...{ metadata: { name: 'web-1', namespace: 'shop', resourceVersion: '7' } },
    ...{ service: 'shop/web', isReady },
  });
});

it('of no Service belongs to none', () => {
  expect(trimSlice({ metadata: { name: 'x', namespace: 'shop' } }).service).toBeUndefined();
});
