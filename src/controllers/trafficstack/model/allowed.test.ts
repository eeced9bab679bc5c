import { describe, expect, it } from 'vitest';
import type { ComponentSpec } from '../../../api/trafficstack/trafficStack.ts';
import { TRAFFIC_WEIGHTS } from '../../../api/trafficweight/trafficWeight.ts';
import { CONFIG_MAPS, CONTROLLER_REVISIONS, DAEMONSETS, DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import type { Member } from '../../../runtime/objectSet/objectSet.ts';
import { mayWrite, namespaceProblems, leftText, type AllowedNamespaces } from './allowed.ts';

const EXPORTER = 'DaemonSet op-node-exporter/node-exporter';
const allowed = (...namespaces: string[]): AllowedNamespaces => {
  return { own: 'op', namespaces, byName: new Set([EXPORTER]) };
};
const deployment = (namespace: string, name = 'web'): Member => {
  return { resource: DEPLOYMENTS, object: { metadata: { namespace, name } } };
};
const daemonSet = (namespace: string, name: string): Member => {
  return { resource: DAEMONSETS, object: { metadata: { namespace, name } } };
};

describe('an object of a stack may be written', () => {
  it.each<{ why: string; member: Member; namespaces: string[]; is: boolean }>([
    { why: 'without a list', member: deployment('other'), namespaces: [], is: true },
    { why: 'in a namespace of the list', member: deployment('shop'), namespaces: ['lab', 'shop'], is: true },
    { why: 'in the namespace of the operator', member: deployment('op'), namespaces: ['shop'], is: true },
    {
      why: 'in no namespace',
      member: { resource: TRAFFIC_WEIGHTS, object: { metadata: { name: 'dns' } } },
      namespaces: ['shop'],
      is: true,
    },
    { why: 'by its name', member: daemonSet('op-node-exporter', 'node-exporter'), namespaces: ['shop'], is: true },
    {
      why: 'not by the name of another kind',
      member: deployment('op-node-exporter', 'node-exporter'),
      namespaces: ['shop'],
      is: false,
    },
    {
      why: 'not next to an object that is written by its name',
      member: daemonSet('op-node-exporter', 'web'),
      namespaces: ['shop'],
      is: false,
    },
    { why: 'not in a namespace with a similar name', member: deployment('shop-2'), namespaces: ['shop'], is: false },
  ])('or not: $why', ({ member, namespaces, is }) => {
    expect(mayWrite(member, allowed(...namespaces))).toBe(is);
  });

  it.each<[string, Member, boolean]>([
    ['what is written by its name', daemonSet('op-node-exporter', 'node-exporter'), true],
    [
      'a stored revision',
      { resource: CONTROLLER_REVISIONS, object: { metadata: { namespace: 'op', name: 'r' } } },
      true,
    ],
    ['nothing else in the namespace of the operator', deployment('op'), false],
    ['nothing in any other namespace', deployment('shop'), false],
  ])('while the stacks of users are off: %s', (_, member, is) => {
    expect(mayWrite(member, { ...allowed(), isByNameOnly: true })).toBe(is);
  });
});

describe('a stack', () => {
  const component = (name: string, namespace: string, mode?: ComponentSpec['mode']) => ({
    ...{ spec: { name, ...(mode && { mode }) } },
    objects: [{ resource: CONFIG_MAPS, object: { metadata: { namespace, name } } }, deployment(namespace, name)],
  });
  const VALUE = 'stacks.namespaces of the chart (--stack-namespace)';

  it('whose objects are in allowed namespaces has no problem', () => {
    expect(namespaceProblems([component('web', 'shop')], [deployment('op')], allowed('shop'))).toEqual([]);
  });

  it('with objects in others has one for each namespace, which names the components and what is allowed', () => {
    const components = [
      component('web', 'other'),
      component('db', 'shop'),
      component('api', 'other'),
      component('x', 'lab'),
    ];
    expect(namespaceProblems(components, [], allowed('shop', 'op'))).toEqual([
      `components web, api: the operator may not write in namespace other: add it to ${VALUE}, or use an allowed namespace: op, shop`,
      `component x: the operator may not write in namespace lab: add it to ${VALUE}, or use an allowed namespace: op, shop`,
    ]);
  });

  it.each(['External', 'Auto'] as const)(
    'has a problem with a component elsewhere only if it may write it: %s',
    (mode) => {
      expect(namespaceProblems([component('web', 'other', mode)], [], allowed('shop'))).toHaveLength(
        mode === 'Auto' ? 1 : 0,
      );
    },
  );

  it('has one with what it once made and no longer has, which names the object', () => {
    const existing = [deployment('other', 'old'), deployment('shop')];
    expect(namespaceProblems([component('web', 'shop')], existing, allowed('shop'))).toEqual([
      `Deployment other/old of this stack exists, and the operator may not delete in namespace other: add it to ${VALUE}, or delete what is no longer needed yourself`,
    ]);
  });

  it('names once a namespace in which it has, and had, objects', () => {
    const problems = namespaceProblems([component('web', 'other')], [deployment('other', 'web')], allowed('shop'));
    expect(problems).toEqual([expect.stringContaining('component web')]);
  });
});

it('what a deleted stack leaves is named, with its namespaces and what becomes of it', () => {
  expect(leftText([deployment('other'), deployment('lab', 'db')])).toBe(
    'the operator may not delete in namespaces other, lab, so Kubernetes deletes these when the stack is gone, in no order: Deployment other/web, Deployment lab/db',
  );
});
