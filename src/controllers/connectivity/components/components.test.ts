import type { V1DaemonSet, V1Deployment } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { defaultConnectivityOptions } from '../../../connectivity/objects/names.ts';
import { DAEMONSETS, DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import { FakeApi } from '../../../runtime/testing/fakeApi/fakeApi.ts';
import { pino } from 'pino';
import { allComponents } from './components.ts';
import { CONNECTIVITY_FLAGS, connectivityFlagProblem, deploymentOptions } from '../flags.ts';
import { removeConnectivity } from '../module.ts';

const OWNER = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'traffic-operator', uid: 'u1' };
const OPTIONS = { ...defaultConnectivityOptions('op'), image: 'ours:1' };

describe('the connectivity check', () => {
  it('equals testdata', async () => {
    const objects = allComponents(OPTIONS, { owner: OWNER }).map(({ object }) => object);
    await expect(objects.map((object) => stringify(object)).join('---\n')).toMatchFileSnapshot(
      'testdata/defaults.yaml',
    );
  });

  it('equals testdata with TLS, in what differs', async () => {
    const circumstances = { ca: 'the CA' };
    const plain = allComponents(OPTIONS, circumstances).map(({ object }) => stringify(object));
    const objects = allComponents({ ...OPTIONS, tlsSecretName: 'server-tls' }, circumstances);
    const changed = objects.map(({ object }) => stringify(object)).filter((text) => !plain.includes(text));
    const ca = objects.filter(({ group }) => group === 'serverCa').map(({ object }) => stringify(object));
    await expect([...ca, ...changed].join('---\n')).toMatchFileSnapshot('testdata/tls.yaml');
  });

  it('has no user and group IDs on OpenShift, in which alone its pods differ', () => {
    const texts = (openshift: boolean): string[] =>
      allComponents({ ...OPTIONS, openshift }).map(({ object }) => stringify(object));
    const ids = / +runAs(User|Group): 65532\n/g;
    expect(texts(true)).toEqual(texts(false).map((text) => text.replaceAll(ids, '')));
    expect(texts(false).join().match(ids)).toHaveLength(6);
  });

  it('has a list of ServiceAccounts unless original agents may report, which have others', () => {
    const argsOf = (allowAnonymous: boolean): string[] => {
      const objects = allComponents({ ...OPTIONS, allowAnonymous });
      const found = objects.find(({ resource }) => resource === DEPLOYMENTS)?.object as V1Deployment;
      return found.spec?.template.spec?.containers[0]?.args ?? [];
    };
    expect(argsOf(false)).toContain('--agent-service-account=op-connectivity/netchecker-agent');
    expect(argsOf(true)).toContain('--allow-anonymous=true');
    expect(argsOf(true).join()).not.toContain('--agent-service-account');
  });

  it('has the ranges that agents may request for both DaemonSets, and none by default', () => {
    const rangesOf = (...allowedTargets: string[]): string[][] =>
      allComponents({ ...OPTIONS, allowedTargets }).flatMap(({ resource, object }) => {
        if (resource !== DAEMONSETS) return [];
        const { args = [] } = (object as V1DaemonSet).spec?.template.spec?.containers[0] ?? {};
        return [args.filter((arg) => arg.startsWith('--allow-target-cidr'))];
      });
    expect(rangesOf()).toEqual([[], []]);
    const both = ['--allow-target-cidr=169.254.20.10/32', '--allow-target-cidr=fd00:1::/64'];
    expect(rangesOf('169.254.20.10/32', 'fd00:1::/64')).toEqual([both, both]);
  });

  it('has the resources, places and priorities of the flags, and the pull policy of the image', () => {
    const toleration = { key: 'infra', operator: 'Exists' };
    const flags = {
      ...{ namespace: 'op', connectivity: true, connectivityImage: 'ours:1', imagePullSecret: [] },
      connectivityImagePullPolicy: 'Always',
      connectivityNodeSelector: [['pool', 'a']],
      connectivityServerResources: { limits: { memory: '2Gi' } },
      connectivityServerNodeSelector: [['pool', 'infra']],
      connectivityServerTolerations: [toleration],
      connectivityServerPriorityClass: 'high',
      connectivityAgentResources: { requests: { cpu: '5m' } },
      connectivityAgentPriorityClass: 'system-node-critical',
      connectivityAllowTargetCidr: [{ text: '169.254.20.10/32' }],
    };
    const options = deploymentOptions(flags as unknown as Parameters<typeof deploymentOptions>[0]);
    const [server, ...agents] = allComponents(options).flatMap(({ resource, object }) =>
      resource === DEPLOYMENTS || resource === DAEMONSETS
        ? [(object as V1DaemonSet | V1Deployment).spec?.template.spec]
        : [],
    );
    expect(server).toMatchObject({
      nodeSelector: { 'kubernetes.io/os': 'linux', pool: 'infra' },
      tolerations: [toleration],
      priorityClassName: 'high',
      containers: [{ imagePullPolicy: 'Always', resources: { limits: { memory: '2Gi' } } }],
    });
    expect(agents).toHaveLength(2);
    for (const agent of agents) {
      expect(agent?.nodeSelector).toEqual({ 'kubernetes.io/os': 'linux', pool: 'a' });
      expect(agent).toMatchObject({
        priorityClassName: 'system-node-critical',
        containers: [{ imagePullPolicy: 'Always', resources: { requests: { cpu: '5m' } } }],
      });
      expect(agent?.containers[0]?.args).toContain('--allow-target-cidr=169.254.20.10/32');
    }
  });

  it.each([
    ['1s', undefined],
    ['2s', 2_000],
    ['1500ms', undefined],
    ['24h', 86_400_000],
  ])('takes the interval of reports %s as %s: agents refuse what is shorter than 2s', (text, ms) => {
    expect(CONNECTIVITY_FLAGS.connectivityReportInterval.type.schema.safeParse(text).data).toBe(ms);
  });

  it('is removed in the reverse order, the namespace of the agents last', async () => {
    const client = new FakeApi(...allComponents(OPTIONS).map(({ object }) => object));
    const settings = { namespace: 'op', logger: pino({ level: 'silent' }) };
    expect(await removeConnectivity(client, settings)).toEqual([]);
    expect([...client.objects.keys()]).toEqual([]);
    expect(client.writes.at(-1)).toBe('delete Namespace op-connectivity');
  });

  it('is removed also if it is of a stack, whose controller no longer runs', async () => {
    const owner = { apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficStack', name: 'default', uid: 'u' };
    const ownerReferences = [{ ...owner, controller: true }];
    const objects = allComponents(OPTIONS).map(({ object }) => object);
    const owned = objects.map((object) => ({ ...object, metadata: { ...object.metadata, ownerReferences } }));
    const client = new FakeApi(...owned);
    expect(await removeConnectivity(client, { namespace: 'op', logger: pino({ level: 'silent' }) })).toEqual([]);
    expect([...client.objects.keys()]).toEqual([]);
  });

  it.each([
    { connectivity: true, connectivityImage: undefined, namespace: 'op', key: 'connectivity' },
    { connectivity: true, connectivityImage: 'i', namespace: 'n'.repeat(51), key: 'namespace' },
    { connectivity: true, connectivityImage: 'i', namespace: 'n'.repeat(50), key: undefined },
    { connectivity: false, connectivityImage: undefined, namespace: 'n'.repeat(51), key: undefined },
  ])('refuses flags that do not fit: $key', ({ key, ...flags }) => {
    expect(connectivityFlagProblem(flags as Parameters<typeof connectivityFlagProblem>[0])?.key).toBe(key);
  });
});
