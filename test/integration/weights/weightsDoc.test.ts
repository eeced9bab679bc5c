import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { HOST_REASONS } from '../../../src/api/trafficweight/terms.ts';
import { TRAFFIC_WEIGHTS, type TrafficWeight } from '../../../src/api/trafficweight/trafficWeight.ts';
import { resourcePath } from '../../../src/runtime/client/resource.ts';
import { trafficWeightCrd } from '../../harness/customResource.ts';
import { flagsOfCluster, OFTEN, syncRecords } from '../../harness/externalDns.ts';
import { kubectl } from '../../harness/kubectl.ts';
import { connect } from '../../harness/runtimeScene.ts';
import { binary } from '../../lab/binaries.ts';
import { Ingresses } from './ingresses.ts';
import { conditionOf, startScene, WAIT, type WeightScene } from './scene.ts';
import { startZone, type Zone } from './zone.ts';

/** docs/weights.md: "Try it" word for word on two API servers, its other examples, and that it has every field. */
const PAGE = readFileSync(new URL('../../../docs/weights.md', import.meta.url), 'utf8');
const [, TRY_IT = ''] = /\n## Try it\n(.*?)\n## /s.exec(PAGE) ?? [];
const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, block = '']) => block);
const [WEIGHT = ''] = blocks(TRY_IT, 'yaml');
const COMMANDS = blocks(TRY_IT, 'sh').find((block) => block.includes('create ingress')) ?? '';
/** The commands of the blocks with their outputs. */
const OUTPUTS = blocks(TRY_IT, 'console').flatMap((block) =>
  block
    .split(/^[$] /m)
    .slice(1)
    .map((text): [command: string, output: string] => {
      const end = text.indexOf('\n');
      return [text.slice(0, end), text.slice(end + 1).trim()];
    }),
);
/** Columns that differ from one run to the next. */
const withoutAge = (table: string): string[] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.replace(/ +\S+$/, ''));

interface Cluster {
  readonly name: string;
  readonly scene: WeightScene;
}

let zone: Zone;
let clusters: Cluster[] = [];

beforeAll(async () => {
  const [server, ...scenes] = await Promise.all([
    startZone('example.org'),
    startScene('operator-a'),
    startScene('operator-b'),
  ]);
  zone = server;
  clusters = scenes.map((scene, n) => ({ name: ['cluster-a', 'cluster-b'][n]!, scene }));
  for (const { scene } of clusters) await scene.startOperator();
});
afterAll(async () => {
  for (const { scene } of clusters) await scene.f.stop();
  await zone.stop();
});

/** Runs commands of the page as they are. */
async function run({ scene }: Cluster, commands: string): Promise<string> {
  const path = `${dirname(await binary('kubectl'))}:${process.env.PATH ?? ''}`;
  const env = { ...process.env, KUBECONFIG: scene.f.controlPlane.kubeconfig, PATH: path };
  return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], { env })).stdout;
}

/** Acts as the controllers of a cluster: load balancers have addresses, and Services with pods have endpoints. */
async function act({ scene }: Cluster): Promise<void> {
  const ingresses = new Ingresses(scene.f.client);
  for (const name of ['shop', 'blog', 'api']) await ingresses.setAddresses(name, [{ hostname: 'lb.example.net' }]);
  for (const name of ['shop', 'blog']) await ingresses.setReady(name, true);
}

describe('docs/weights.md, Try it', () => {
  it('has the outputs that it says', async () => {
    const [a, b] = clusters as [Cluster, Cluster];
    for (const cluster of [a, b]) {
      await run(cluster, COMMANDS);
      await act(cluster);
      const own = WEIGHT.replace('cluster-a', cluster.name).replace('weight: 75', `weight: ${cluster === a ? 75 : 25}`);
      await kubectl(cluster.scene.f.controlPlane, ['apply', '-f', '-'], own);
    }
    const [list, late, message, current, explain] = OUTPUTS as [string, string][] & { length: 5 };
    const isShown = async ([command, output]: [string, string]): Promise<void> =>
      expect(withoutAge(await run(a, command))).toEqual(withoutAge(output));
    await vi.waitFor(() => isShown(list!), WAIT);
    await vi.waitFor(() => isShown(late!), WAIT);
    expect((await run(a, message![0])).trim()).toBe(message![1]);
    for (const { name, scene } of clusters) {
      await syncRecords({
        kubeconfig: scene.f.controlPlane.kubeconfig,
        owner: name,
        domain: 'example.org',
        aws: zone.aws,
      });
      await vi.waitFor(async () => expect(await conditionOf(scene.f, 'Ready')).toMatchObject({ status: 'True' }), WAIT);
    }
    await isShown(current!);
    expect((await run(a, explain![0])).trim()).toBe(explain![1]);
  });

  it('has the flags of external-dns, and the sample, that are tried out here', () => {
    const [, flags = ''] = /^external-dns (.*)$/m.exec(TRY_IT) ?? [];
    expect(flags.split(' ')).toEqual(flagsOfCluster({ owner: 'cluster-a', domain: 'example.org' }));
    expect(TRY_IT).toContain(`\`${OFTEN.join(' ')}\``);
    const sample = readFileSync(new URL('../../../deploy/samples/trafficweight.yaml', import.meta.url), 'utf8');
    expect(parse(sample)).toEqual(parse(WEIGHT));
  });

  it('has the records of the zone that it says', async () => {
    const rows = [...TRY_IT.matchAll(/^\| `(.+?)` \| (\S+) \| (\S+) \| (\d+) \| (\d+) \|$/gm)].map((row) =>
      row.slice(1),
    );
    const records = (await zone.records())
      .filter(({ SetIdentifier }) => SetIdentifier !== undefined)
      .map(({ Name, Type, SetIdentifier, Weight, TTL }) =>
        [Name?.replace(/[.]$/, ''), Type, SetIdentifier, Weight, TTL].map(String),
      );
    expect(rows).toHaveLength(6);
    expect(records.sort()).toEqual(rows.sort());
  });
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** The names of all fields, except fields of label selectors and conditions, which are Kubernetes' own. */
function fieldsOf({ properties = {}, items }: Schema): string[] {
  const own = Object.entries(properties).flatMap(([name, schema]) =>
    name === 'namespaceSelector' || name === 'conditions' ? [name] : [name, ...fieldsOf(schema)],
  );
  return items === undefined ? own : [...own, ...fieldsOf(items)];
}

describe('docs/weights.md', () => {
  const [version] = trafficWeightCrd().spec.versions;
  const { spec = {}, status = {} } = version?.schema?.openAPIV3Schema?.properties ?? {};
  it.each([...new Set([...fieldsOf(spec as Schema), ...fieldsOf(status as Schema), ...HOST_REASONS])])(
    'says what %s means',
    (field) => {
      // In a table: alone, or as a part of a path.
      const rows = PAGE.split('\n')
        .filter((line) => line.startsWith('|'))
        .join('\n');
      expect(rows).toMatch(new RegExp(`\`([a-zA-Z.]+[.])?${field}([.][a-zA-Z.]+)?\``));
    },
  );

  const examples = blocks(PAGE, 'yaml')
    .map((block) => parse(block) as TrafficWeight)
    .filter((object) => Object.hasOwn(object, 'spec'));
  it('has examples', () => expect(examples.length).toBeGreaterThan(4));

  it.each(examples)('has an example that the API server takes: $spec', async ({ spec: example }) => {
    const [{ scene }] = clusters as [Cluster];
    const { transport } = connect(scene.f.controlPlane);
    const body = {
      metadata: { name: 'example' },
      spec: example,
      apiVersion: 'traffic.example.com/v1alpha1',
      kind: 'TrafficWeight',
    };
    const query = { dryRun: 'All', fieldValidation: 'Strict' };
    try {
      await transport.request({ method: 'POST', path: resourcePath(TRAFFIC_WEIGHTS, {}), query, body });
    } finally {
      await transport.close();
    }
  });
});
