import { describe, expect, it } from 'vitest';
import type { CommonSpec, ComponentSpec } from '../../../api/trafficstack/trafficStack.ts';
import { defaultConnectivityOptions } from '../../../connectivity/objects/names.ts';
import { idOf } from '../../../runtime/objectSet/objectSet.ts';
import type { DeploymentOptions } from '../flags.ts';
import { builtInsOf } from './builtIns.ts';
import { allComponents } from './components.ts';

const OPTIONS: DeploymentOptions = {
  ...defaultConnectivityOptions('op'),
  ...{ enabled: true, image: 'ours:1', tlsSecretName: 'server-tls', nodeSelector: { pool: 'all' } },
};
type Type = 'ConnectivityServer' | 'ConnectivityAgents';

function render(type: Type, settings: Partial<ComponentSpec> = {}, common?: CommonSpec) {
  const builtIn = builtInsOf(OPTIONS).find((each) => each.type === type);
  if (builtIn === undefined) throw new Error(`${type} is not offered`);
  return builtIn.render({ name: 'x', type, ...settings }, common);
}

/** Returns the objects of a group that the controller itself applies with other options, also after it has read a CA. */
function own(type: Type, over: Partial<DeploymentOptions> = {}) {
  const group = type === 'ConnectivityServer' ? 'server' : 'agents';
  return allComponents({ ...OPTIONS, ...over }, { ca: 'the CA' })
    .filter((each) => each.group === group)
    .map(({ resource, object }) => ({ resource, object }));
}

it('waits for the CA of the server, with TLS alone: agents could not follow it to HTTPS', async () => {
  const messages = (over: Partial<DeploymentOptions>) =>
    Promise.all(builtInsOf({ ...OPTIONS, ...over }).map((each) => each.waitsFor?.() ?? Promise.resolve(undefined)));
  expect(await messages({ serverCaFile: '/does/not/exist' })).toEqual(
    Array(2).fill(expect.stringContaining('Secret server-tls: ca.crt cannot be used')),
  );
  expect(await messages({})).toEqual([undefined, undefined]);
});

describe('the components that stacks may have', () => {
  it.each<[Type, string[]]>([
    [
      'ConnectivityServer',
      ['ServiceAccount op/netchecker-server', 'Service op/netchecker-service', 'Deployment op/netchecker-server'],
    ],
    [
      'ConnectivityAgents',
      [
        'ServiceAccount op-connectivity/netchecker-agent',
        'Service op-connectivity/netchecker-agent',
        'Service op-connectivity/netchecker-agent-hostnet',
        'DaemonSet op-connectivity/netchecker-agent',
        'DaemonSet op-connectivity/netchecker-agent-hostnet',
      ],
    ],
  ])('are the same as of the controller without settings, workloads last, no namespace and CA: %s', (type, ids) => {
    expect(render(type).map(idOf)).toEqual(ids);
    expect(render(type)).toEqual(own(type));
  });

  const size = { priorityClassName: 'high', resources: { limits: { memory: '1Gi' } } };
  const place = { nodeSelector: { pool: 'infra' } };
  const server = { ...size, ...place, tolerations: [{ operator: 'Exists' }] };
  it.each<[Type, Partial<ComponentSpec>, Partial<DeploymentOptions>]>([
    ['ConnectivityServer', { connectivityServer: server }, { server }],
    ['ConnectivityServer', { connectivityServer: { priorityClassName: undefined } }, {}],
    ['ConnectivityAgents', { connectivityAgents: { ...size, ...place } }, { agents: size, ...place }],
    ['ConnectivityAgents', { connectivityAgents: { resources: undefined, nodeSelector: undefined } }, {}],
    ['ConnectivityAgents', { connectivityAgents: { nodeSelector: {} } }, { nodeSelector: {} }],
    [
      'ConnectivityServer',
      { connectivityServer: { reportInterval: '1m', serviceType: 'NodePort', allowAnonymous: true } },
      { reportIntervalSeconds: 60, serviceType: 'NodePort', allowAnonymous: true },
    ],
    [
      'ConnectivityAgents',
      { connectivityAgents: { reportInterval: '30s', peerPort: 9082 } },
      { reportIntervalSeconds: 30, peerPort: 9082 },
    ],
  ])('have the settings of the stack instead of the flags: %s %j', (type, settings, options) => {
    expect(render(type, settings)).toEqual(own(type, options));
  });

  const common: CommonSpec = {
    ...{ nodeSelector: { pool: 'common' }, tolerations: [{ key: 'common' }], priorityClassName: 'common' },
    ...{ imagePullSecrets: [{ name: 'registry' }], logLevel: 'debug' },
  };
  const { nodeSelector = {}, tolerations = [], priorityClassName = '' } = common;
  const imagePullSecrets = ['registry'];
  it.each<[string, Type, Partial<ComponentSpec>, Partial<DeploymentOptions>]>([
    [
      'for the server all of the placement',
      'ConnectivityServer',
      {},
      { imagePullSecrets, server: { ...OPTIONS.server, nodeSelector, tolerations, priorityClassName } },
    ],
    [
      'and none that the component has itself',
      'ConnectivityServer',
      { connectivityServer: server },
      { imagePullSecrets, server },
    ],
    [
      'for the agents those that keep them on their nodes',
      'ConnectivityAgents',
      {},
      { imagePullSecrets, agents: { ...OPTIONS.agents, priorityClassName } },
    ],
  ])('have the common settings of the stack instead of the flags: %s', (_, type, settings, options) => {
    expect(render(type, settings, common)).toEqual(own(type, options));
  });

  it('are as the flags say if nothing is common to the stack', () => {
    for (const type of ['ConnectivityServer', 'ConnectivityAgents'] as const)
      expect(render(type, {}, {})).toEqual(own(type));
  });

  it('have the settings of the flags except an empty placement, and are the same if a stack states these settings', () => {
    const defaults: DeploymentOptions = { ...defaultConnectivityOptions('op'), enabled: true, image: 'ours:1' };
    const { resources } = defaults.server;
    expect(builtInsOf(defaults).map(({ settings }) => settings)).toEqual([
      { connectivityServer: { resources, reportInterval: '15s', serviceType: 'ClusterIP', allowAnonymous: false } },
      { connectivityAgents: { resources: defaults.agents.resources, reportInterval: '15s', peerPort: 8082 } },
    ]);
    const options: DeploymentOptions = {
      ...{ ...defaults, server, agents: size, nodeSelector: { pool: 'all' }, reportIntervalSeconds: 60 },
      ...{ serviceType: 'NodePort', peerPort: 9082, allowAnonymous: true, imagePullSecrets: ['registry'] },
    };
    expect(builtInsOf(options).map(({ settings }) => settings)).toEqual([
      {
        connectivityServer: { ...server, reportInterval: '60s', serviceType: 'NodePort', allowAnonymous: true },
      },
      { connectivityAgents: { ...size, nodeSelector: { pool: 'all' }, reportInterval: '60s', peerPort: 9082 } },
    ]);
    const others = builtInsOf({ ...defaults, imagePullSecrets: ['registry'] });
    for (const [index, ofFlags] of builtInsOf(options).entries()) {
      const { type, settings } = ofFlags;
      expect(others[index]?.render({ name: 'x', type, ...settings })).toEqual(ofFlags.render({ name: 'x', type }));
    }
  });

  it('are none without the flag: the chart then gives the server no rights', () => {
    const problems = builtInsOf({ ...OPTIONS, enabled: false }).map(({ problem }) => problem);
    expect(problems).toEqual(Array(2).fill(expect.stringContaining('without --connectivity')));
    for (const { problem, isDeployed } of builtInsOf(OPTIONS)) expect([problem, isDeployed]).toEqual([undefined, true]);
  });
});
