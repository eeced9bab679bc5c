import { describe, expect, it } from 'vitest';
import type { ComponentSpec } from '../../../api/trafficstack/trafficStack.ts';
import { defaultConnectivityOptions } from '../../../connectivity/objects/names.ts';
import { idOf } from '../../../runtime/objectSet/member.ts';
import type { DeploymentOptions } from '../options.ts';
import { builtInsOf } from './builtIns.ts';
import { allComponents } from './components.ts';

const OPTIONS: DeploymentOptions = {
  ...defaultConnectivityOptions('op'),
  ...{ enabled: true, image: 'ours:1', tlsSecretName: 'server-tls', nodeSelector: { pool: 'all' } },
};
type Type = 'ConnectivityServer' | 'ConnectivityAgents';

function render(type: Type, settings: Partial<ComponentSpec> = {}) {
  const builtIn = builtInsOf(OPTIONS).find((each) => each.type === type);
  if (builtIn === undefined) throw new Error(`${type} is not offered`);
  return builtIn.render({ name: 'x', type, ...settings });
}

/** What the controller itself applies of a group with other options, also after it has read a CA. */
function own(type: Type, over: Partial<DeploymentOptions> = {}) {
  const group = type === 'ConnectivityServer' ? 'server' : 'agents';
  return allComponents({ ...OPTIONS, ...over }, { ca: 'the CA' })
    .filter((each) => each.group === group)
    .map(({ resource, object }) => ({ resource, object }));
}

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
  ])('are those of the controller without settings, the workloads last, without namespace and CA: %s', (type, ids) => {
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
  ])('have the settings of the stack in place of those of the flags: %s %j', (type, settings, options) => {
    expect(render(type, settings)).toEqual(own(type, options));
  });

  it('are none without the flag: the chart then gives the server no rights', () => {
    const problems = builtInsOf({ ...OPTIONS, enabled: false }).map(({ problem }) => problem);
    expect(problems).toEqual(Array(2).fill(expect.stringContaining('without --connectivity')));
    for (const { problem, isDeployed } of builtInsOf(OPTIONS)) expect([problem, isDeployed]).toEqual([undefined, true]);
  });
});
