import { expect, it } from 'vitest';
import type { ExternalSpec } from '../../../api/trafficstack/builtInSchema.ts';
import type { UsedObject } from '../../../api/trafficstack/trafficStack.ts';
import { namedExternal } from './external.ts';

const FOUND = { kind: 'Service', namespace: 'monitoring', name: 'a', url: 'http://a' };
const PINNED = { ...FOUND, fromSpec: true } as const;
const NODE = { kind: 'Node', namespace: '', name: 'n3' };
const A: ExternalSpec = { kind: 'Service', namespace: 'monitoring', name: 'a' };

it.each<[string, ExternalSpec | undefined, UsedObject | undefined, boolean, UsedObject | undefined]>([
  ['a search before anything is used', undefined, undefined, true, undefined],
  ['what a search has found and the component was ready with', undefined, FOUND, true, FOUND],
  ['a search while the component was never ready with it', undefined, FOUND, false, undefined],
  ['a search when a user has removed it from the spec', undefined, PINNED, true, undefined],
  ['the spec, with the last URL', A, FOUND, true, PINNED],
  ['the spec, also if it was never ready', A, PINNED, false, PINNED],
  [
    'another object of the spec, without the URL of the former one',
    { ...A, name: 'b' },
    PINNED,
    true,
    { kind: 'Service', namespace: 'monitoring', name: 'b', fromSpec: true },
  ],
  ['the nodes, with the one that answered', { kind: 'Node' }, NODE, true, { ...NODE, fromSpec: true }],
  ['the nodes', { kind: 'Node' }, FOUND, true, { kind: 'Node', namespace: '', name: '', fromSpec: true }],
  [
    'a URL',
    { url: 'http://prom:9090/x' },
    undefined,
    false,
    { kind: 'URL', namespace: '', name: 'prom:9090', url: 'http://prom:9090/x', fromSpec: true },
  ],
])('a component uses %s', (_, external, uses, wasReady, wanted) => {
  const status = { ...(uses && { uses }), ...(wasReady && { readyRevision: 'r1' }) };
  expect(namedExternal({ external }, status)).toEqual(wanted);
});
