import type { V1Pod } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { COMPONENT_LABEL, STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { createdEarly, eventsOf, type PodEvent } from '../../scenario/podOrder.ts';

/** The pods of a stack that a watch sees: web needs api, which needs two pods of db. */
const DESIRED = { db: 2, api: 1, web: 1 };
const STACK = {
  metadata: { name: 'shop' },
  spec: {
    components: [
      { name: 'web', type: 'Workload' as const, dependsOn: ['api'] },
      { name: 'api', type: 'Workload' as const, dependsOn: ['db'] },
      { name: 'db', type: 'Workload' as const },
    ],
  },
};

interface Options {
  ready?: boolean;
  image?: string;
  stack?: string;
}

/** A version of the pod `COMPONENT-NUMBER`. */
function version(
  type: PodEvent['type'],
  name: string,
  { ready = false, image = '1', stack = 'shop' }: Options = {},
): PodEvent {
  const labels = { [STACK_LABEL]: stack, [COMPONENT_LABEL]: name.replace(/-\d$/, '') };
  const object: V1Pod = {
    metadata: { name, uid: `${name} ${image} ${stack}`, labels },
    spec: { containers: [{ name: 'main', image }] },
    status: {
      conditions: [
        { type: 'PodScheduled', status: 'True' },
        { type: 'Ready', status: ready ? 'True' : 'False' },
      ],
    },
  };
  return { type, object };
}

/** A pod is created, and gets ready. */
const comesUp = (name: string, options: Options = {}): PodEvent[] => [
  version('ADDED', name, options),
  version('MODIFIED', name, { ...options, ready: true }),
];
const DB = [...comesUp('db-0'), ...comesUp('db-1')];
const API_EARLY = 'api-0 was created before db was ready with 1';

it.each<[string, PodEvent[], string[]]>([
  ['each after those that it needs', [...DB, ...comesUp('api-0'), ...comesUp('web-0')], []],
  ['before one is ready', [...comesUp('db-0'), version('ADDED', 'db-1'), version('ADDED', 'api-0')], [API_EARLY]],
  ['before one is there', [...comesUp('db-0'), version('ADDED', 'api-0')], [API_EARLY]],
  ['before any is there', [version('ADDED', 'api-0'), ...DB], [API_EARLY]],
  [
    'before two are ready at the same time',
    [...comesUp('db-0'), version('MODIFIED', 'db-0'), ...comesUp('db-1'), version('ADDED', 'api-0')],
    [API_EARLY],
  ],
  [
    'before two exist at the same time',
    [...comesUp('db-0'), version('DELETED', 'db-0', { ready: true }), ...comesUp('db-1'), version('ADDED', 'api-0')],
    [API_EARLY],
  ],
  ['after they were ready, although one no longer is', [...DB, version('MODIFIED', 'db-0'), ...comesUp('api-0')], []],
  [
    'a short time after another pod, and not ready: only that pod is early',
    [...DB, version('ADDED', 'api-0'), version('ADDED', 'web-0')],
    ['web-0 was created before api was ready with 1'],
  ],
  [
    'with a new image, before its dependency has that',
    [...DB, ...comesUp('db-0', { image: '2' }), version('ADDED', 'api-0', { image: '2' })],
    ['api-0 was created before db was ready with 2'],
  ],
  [
    'with a new image, after its dependency',
    [
      ...DB,
      ...comesUp('db-0', { image: '2' }),
      ...comesUp('db-1', { image: '2' }),
      ...comesUp('api-0', { image: '2' }),
    ],
    [],
  ],
  [
    'of another stack, which does not count',
    [
      ...comesUp('db-0'),
      ...comesUp('db-1', { stack: 'other' }),
      version('ADDED', 'api-0', { stack: 'other' }),
      version('ADDED', 'api-0'),
    ],
    [API_EARLY],
  ],
])('a pod is created %s', (_, events, expected) => {
  expect(createdEarly(STACK, events, DESIRED)).toEqual(expected);
});

it('a component whose number of pods is not known is never ready', () => {
  expect(createdEarly(STACK, [...DB, version('ADDED', 'api-0')], { api: 1 })).toEqual([API_EARLY]);
});

it('the versions of one stack', () => {
  const other = version('ADDED', 'db-0', { stack: 'other' });
  expect(eventsOf('other', [...DB, other])).toEqual([other]);
});
