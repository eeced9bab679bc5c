import { describe, expect, it } from 'vitest';
import type { ComponentSpec, InventoryObject, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { defaultConnectivityOptions } from '../../../connectivity/objects/names.ts';
import { idOf, type Member } from '../../../runtime/objectSet/objectSet.ts';
import { planSet } from '../../../runtime/objectSet/plan.ts';
import { stackOwnershipOf, ownedByStacks } from '../../contract/stackOwnership.ts';
import { allComponents, connectivitySet } from '../components/components.ts';
import type { DeploymentOptions } from '../flags.ts';
import { deployedByFlags, STACK_TYPES, switchedOff } from './stackGroups.ts';

const PLAIN: DeploymentOptions = { ...defaultConnectivityOptions('op'), image: 'ours:1', enabled: true };
const TLS: DeploymentOptions = { ...PLAIN, tlsSecretName: 'server-tls' };
const DAEMON_SET = { kind: 'DaemonSet', namespace: 'op-connectivity', name: 'netchecker-agent-hostnet' };
const AGENTS = ['agents', 'agentsNamespace'];
const ALL = ['server', ...AGENTS, 'serverCa'];

function stack(components: readonly ComponentSpec[], objects: readonly InventoryObject[] = []): TrafficStack {
  const status = { inventory: [{ component: 'x', dependsOn: [], objects: [...objects] }] };
  return { metadata: { name: 'main' }, spec: { components: [...components] }, status };
}
const server = (over: Partial<ComponentSpec> = {}): ComponentSpec => ({
  ...{ name: 's', type: 'ConnectivityServer' },
  ...over,
});
const agents = (over: Partial<ComponentSpec> = {}): ComponentSpec => ({
  ...{ name: 'a', type: 'ConnectivityAgents' },
  ...over,
});
const OFF = { mode: 'Disabled' } as const;

interface Row {
  readonly why: string;
  readonly stacks: readonly TrafficStack[];
  readonly kept?: readonly string[];
  /** With the flag and with TLS. */
  readonly off?: readonly string[];
}

const rows: Row[] = [
  { why: 'no stack: the flags decide', stacks: [] },
  { why: 'a stack names both: they are left to it', stacks: [stack([server(), agents()])], kept: ['server', 'agents'] },
  { why: 'a stack names the server', stacks: [stack([server()])], kept: ['server'] },
  { why: 'a stack names the agents', stacks: [stack([agents()])], kept: ['agents'] },
  { why: 'a stack disables the server: the agents need the CA', stacks: [stack([server(OFF)])], off: ['server'] },
  { why: 'a stack disables the agents: the server needs the CA', stacks: [stack([agents(OFF)])], off: AGENTS },
  { why: 'a stack disables both: nobody needs the CA', stacks: [stack([server(OFF), agents(OFF)])], off: ALL },
  {
    why: 'it is no longer in the spec, and the stack has not removed all',
    stacks: [stack([server()], [DAEMON_SET])],
    kept: ['server', 'agents'],
  },
  {
    why: 'the inventory of a stack has a foreign server in another namespace',
    stacks: [stack([], [{ kind: 'Deployment', namespace: 'shop', name: 'netchecker-server' }])],
  },
];

describe('who keeps the connectivity check', () => {
  it.each(rows)('$why', ({ stacks, kept = [], off = [] }) => {
    const ownership = stackOwnershipOf(STACK_TYPES, stacks, allComponents(TLS), new Set());
    expect([...ownedByStacks(STACK_TYPES, ownership)]).toEqual(kept);
    expect([...switchedOff(TLS, ownership)]).toEqual(off);
    expect([...switchedOff(PLAIN, ownership)]).toEqual([...off.filter((group) => group !== 'serverCa'), 'serverCa']);
    // Without the flag, a stack cannot have it either.
    expect([...switchedOff({ ...TLS, enabled: false }, ownership)]).toEqual(ALL);
  });

  it('any may be of a stack while that is not known', () => {
    expect([...ownedByStacks(STACK_TYPES, undefined)]).toEqual(['server', 'agents']);
    expect([...switchedOff(TLS)]).toEqual([]);
  });
});

interface Done {
  readonly apply: readonly string[];
  readonly remove: readonly string[];
}

/** Returns the objects to apply and to remove in a cluster that has all objects, or none. */
function plan(options: DeploymentOptions, stacks: readonly TrafficStack[], isThere: boolean) {
  const { owner, members } = connectivitySet(options);
  const ownership = stackOwnershipOf(STACK_TYPES, stacks, members, deployedByFlags(options));
  const observed = members.map((member) => ({ member, live: isThere ? member.object : undefined }));
  const [off, unknown] = [switchedOff(options, ownership), ownedByStacks(STACK_TYPES, ownership)];
  const { apply, remove } = planSet({ owner, observed, off, unknown, strangers: [] });
  const ids = (list: readonly { member: Member }[]) => list.map(({ member }) => idOf(member));
  return { apply: ids(apply), remove: ids(remove) };
}

describe('what the controller does next to a stack', () => {
  const [NAMESPACE, CA] = ['Namespace op-connectivity', 'ConfigMap op-connectivity/netchecker-server-ca'];
  const SERVER = [
    'ServiceAccount op/netchecker-server',
    'Service op/netchecker-service',
    'Deployment op/netchecker-server',
  ];

  it.each<[string, DeploymentOptions, ComponentSpec[], boolean, Done]>([
    [
      'the namespace is applied, before the stack can create the agents',
      PLAIN,
      [server(), agents()],
      false,
      { apply: [NAMESPACE], remove: [] },
    ],
    [
      'with TLS, the CA too, for the pods of the stack',
      TLS,
      [server(), agents()],
      false,
      { apply: [NAMESPACE, CA], remove: [] },
    ],
    ['the server is left to the stack default', PLAIN, [agents()], true, { apply: [NAMESPACE], remove: [] }],
    [
      'the namespace stays while the flag is off and a stack has not removed its agents',
      { ...PLAIN, enabled: false },
      [agents()],
      true,
      { apply: [], remove: [...SERVER].reverse() },
    ],
  ])('%s', (_, options, components, isThere, done) => {
    const { remove, apply } = plan(options, [stack(components)], isThere);
    expect({ apply, remove: remove.filter((id) => id !== CA) }).toEqual(done);
  });
});
