import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { defaultConnectivityOptions } from '../../connectivity/objects/names.ts';
import { FakeApi } from '../../runtime/testing/fakeApi/fakeApi.ts';
import { pino } from 'pino';
import { allComponents } from './components.ts';
import { connectivityFlagProblem } from './flags.ts';
import { removeConnectivity } from './removeConnectivity.ts';

const OWNER = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'traffic-operator', uid: 'u1' };
const OPTIONS = { ...defaultConnectivityOptions('op'), image: 'ours:1' };

describe('the connectivity check', () => {
  it('equals testdata', async () => {
    const objects = allComponents(OPTIONS, { owner: OWNER, firstCheckDone: true }).map(({ object }) => object);
    await expect(objects.map((object) => stringify(object)).join('---\n')).toMatchFileSnapshot(
      'testdata/defaults.yaml',
    );
  });

  it('is removed in the reverse order, the namespace of the agents last', async () => {
    const client = new FakeApi(...allComponents(OPTIONS).map(({ object }) => object));
    const settings = { namespace: 'op', logger: pino({ level: 'silent' }) };
    expect(await removeConnectivity(client, settings)).toEqual([]);
    expect([...client.objects.keys()]).toEqual([]);
    expect(client.writes.at(-1)).toBe('delete Namespace op-connectivity');
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
