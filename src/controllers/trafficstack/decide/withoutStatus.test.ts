import { describe, expect, it } from 'vitest';
import type { ComponentSpec } from '../../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { CONFIG_MAPS } from '../../../runtime/client/resources.ts';
import type { ObservedComponent, ObservedObject } from '../model/observation.ts';
import { component, NOW, observed, REVISION, stackOf } from '../testing/stacks.ts';
import { planComponent } from './component.ts';

const OWNER = { apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficStack', name: 'main', uid: 'stack-uid' };
const SPEC: ComponentSpec = { name: 'boards', type: 'Dashboards' };

/** A ConfigMap, as far as the cluster has it. */
function map(name: string, there: 'missing' | 'old' | 'current' | 'foreign'): ObservedObject {
  const metadata = { namespace: 'op', name };
  const owned = { ...metadata, ...(there !== 'foreign' && { ownerReferences: [OWNER] }) };
  const live = there === 'missing' ? undefined : ({ kind: 'ConfigMap', metadata: owned } as KubeObject);
  return { resource: CONFIG_MAPS, object: { metadata }, hash: 'h', live, isCurrent: there === 'current' };
}

function boards(
  objects: readonly ObservedObject[],
  over: Partial<ComponentSpec> = {},
  before: Parameters<typeof planComponent>[1]['before'] = new Map(),
) {
  const seen: ObservedComponent = {
    ...{ spec: { ...SPEC, ...over }, objects, pods: [], variables: {}, revision: REVISION },
  };
  return planComponent(seen, { stack: stackOf([seen.spec]), before, now: NOW, left: [], waves: new Map() });
}

describe('a component whose objects have no status', () => {
  it.each<[string, readonly ObservedObject[], string, string, string, number]>([
    [
      'is Ready with all of them',
      [map('a', 'current'), map('b', 'current')],
      'Ready (AllApplied)',
      '2 of 2 objects are applied',
      'ConfigMap op/b',
      2,
    ],
    [
      'is Progressing while one is missing',
      [map('a', 'current'), map('b', 'missing'), map('c', 'current')],
      'Progressing (Applying)',
      'to create: ConfigMap op/b',
      'ConfigMap op/b',
      3,
    ],
    [
      'is Progressing while one has another content',
      [map('a', 'old'), map('b', 'current')],
      'Progressing (Applying)',
      'to change: ConfigMap op/a',
      'ConfigMap op/a',
      2,
    ],
    [
      'is Failed with one of another owner',
      [map('a', 'current'), map('b', 'foreign')],
      'Failed (ForeignObject)',
      'ConfigMap op/b exists and is not of this stack: it is left as it is',
      'ConfigMap op/b',
      0,
    ],
  ])('%s', (_, objects, is, message, what, applied) => {
    const { status, apply, ...planned } = boards(objects);
    const state = `${status.state} (${status.reason})`;
    expect([state, status.message, planned.what, apply.length]).toEqual([is, message, what, applied]);
    expect(status).not.toHaveProperty('replicas');
    expect(status).not.toHaveProperty('version');
  });

  it('waits for what it depends on, and is not ready while its expression is false', () => {
    const web = observed(component('web'), 'none');
    const before = new Map([
      ['web', planComponent(web, { stack: stackOf([]), before: new Map(), now: NOW, left: [], waves: new Map() })],
    ]);
    expect(boards([map('a', 'missing')], { dependsOn: ['web'] }, before).status).toMatchObject({
      ...{ state: 'Waiting', blockedBy: ['web'] },
    });
    expect(boards([map('a', 'current')], { ready: { expression: '1 > 2' } }).status).toMatchObject({
      ...{ state: 'Progressing', reason: 'NotReadyYet' },
      message: '1 of 1 objects are applied; ready.expression "1 > 2" is false',
    });
  });
});
