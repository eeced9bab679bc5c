import { expect, it } from 'vitest';
import type { ComponentSpec, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { DAEMONSETS } from '../../../runtime/client/resources.ts';
import type { ObservedComponent, ObservedExternal } from '../model/observation.ts';
import { REVISION, stackOf } from '../testing/stacks.ts';
import { foundExternals } from './external.ts';

const MADE = { name: 'default', labels: { 'app.kubernetes.io/managed-by': 'traffic-operator' } };
const stack = (metadata: TrafficStack['metadata'] = MADE): TrafficStack => ({ ...stackOf([]), metadata });
const REF = { namespace: 'monitoring', name: 'exporter' };
const EXTERNAL = { kind: 'DaemonSet', ...REF };
const LIVE = { kind: 'DaemonSet', metadata: REF };

function component(
  external: Partial<ObservedExternal> | undefined,
  { mode = 'Auto', live = LIVE }: { mode?: ComponentSpec['mode']; live?: typeof LIVE | null } = {},
): ObservedComponent {
  const object = { resource: DAEMONSETS, object: LIVE, hash: '', isCurrent: false, live: live ?? undefined };
  return {
    ...{ spec: { name: 'exporter', type: 'NodeExporter', mode }, pods: [], variables: {}, revision: REVISION },
    objects: external?.listening === undefined ? [object] : [],
    ...(external !== undefined && { external: { sought: 'an exporter', ...external } }),
  };
}

const LISTENING = { port: 9100, queried: 3, answering: ['n1'] };
it.each<[string, TrafficStack, ObservedComponent, unknown]>([
  ['what a search has found', stack(), component({}), EXTERNAL],
  ['a program on the nodes', stack(), component({ listening: LISTENING }), { kind: 'Node' }],
  [
    'what an earlier version used, and does not exist now',
    stack(),
    component({ named: EXTERNAL }, { live: null }),
    EXTERNAL,
  ],
  ['not what starts', stack(), component({ awaited: 'starts' }), undefined],
  ['not what is of no use', stack(), component({ problem: 'needs a token' }), undefined],
  ['not what the operator deploys', stack(), component(undefined), undefined],
  ['not what a user has decided', stack(), component({}, { mode: 'External' }), undefined],
  ['not what a stack of a user uses', stack({ name: 'main' }), component({}), undefined],
  ['not in a stack `default` of a user', stack({ name: 'default' }), component({}), undefined],
  ['not in a stack that goes', stack({ ...MADE, deletionTimestamp: new Date(0) }), component({}), undefined],
])('the spec has to name %s', (_, of, observed, wanted) => {
  expect(foundExternals(of, [observed]).get('exporter')).toEqual(wanted);
});
