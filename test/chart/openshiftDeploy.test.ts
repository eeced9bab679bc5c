import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { V1Deployment, V1PodSpec } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { helmTemplate, type Manifest } from '../../scripts/chart/helm.ts';
import { binary } from '../lab/binaries.ts';
import { DEPLOY, run } from './cluster.ts';
import { fixedIds, refusals, RESTRICTED_V2 } from './constraints.ts';
import { find, podOf } from './rendered.ts';
import { withoutIds } from './withoutIds.ts';

/** deploy/openshift, as a kustomization next to deploy/ uses it. */
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'openshift-'));
});
afterAll(() => rm(directory, { recursive: true }));

/** The objects of kustomizations of deploy/, with the components. kustomize takes relative paths alone. */
async function built(resources: readonly string[], components: readonly string[] = []): Promise<Manifest[]> {
  const at = (path: string): string => relative(directory, join(DEPLOY, path));
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: resources.map(at),
    components: components.map(at),
  };
  await writeFile(join(directory, 'kustomization.yaml'), stringify(kustomization));
  const { ok, text } = await run(await binary('kubectl'), ['kustomize', directory]);
  if (!ok) throw new Error(text);
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

const VARIABLES = [
  { name: 'TRAFFIC_OPERATOR_OPENSHIFT', value: 'true' },
  // Port 9100 of the nodes belongs to OpenShift's own node-exporter.
  { name: 'TRAFFIC_OPERATOR_NODE_EXPORTER_PORT', value: '9890' },
];

describe('the component deploy/openshift', () => {
  it.each([
    ['.', 2],
    ['cleanup', 1],
    ['connectivity', 3],
  ])('takes the IDs off the pods of deploy/%s, and changes nothing else', async (path, pods) => {
    const plain = await built([path]);
    const changed = await built([path], ['openshift']);
    const added = VARIABLES.map((one) => `${JSON.stringify(one)},`).join('');
    expect(JSON.parse(JSON.stringify(changed).replace(added, ''))).toEqual(withoutIds(plain));
    expect(JSON.stringify(plain).match(/"runAsUser":\d/g)).toHaveLength(pods);
  });

  it('tells the operator by its variables, which no argument overrides', async () => {
    const [container] = podOf(find(await built(['.'], ['openshift']), 'Deployment')).containers;
    expect((container as unknown as { env: object[] }).env).toEqual(expect.arrayContaining(VARIABLES));
    expect(container.args.filter((arg) => /^--(openshift|node-exporter-port)/.test(arg))).toEqual([]);
  });
});

it('the sample of a traffic generator is admitted by restricted-v2 without its IDs, as its comment says', async () => {
  const sample = await readFile(join(DEPLOY, 'samples', 'traffic_generator.yaml'), 'utf8');
  const podIn = (text: string): V1PodSpec => {
    const objects = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
    return (find(objects, 'Deployment') as V1Deployment).spec!.template.spec!;
  };
  const [, program = ''] = /sed (\S+) deploy\/samples/.exec(sample)!;
  const { ok, text } = await run('sed', [program], sample);
  expect(ok).toBe(true);
  expect(fixedIds(podIn(sample))).toHaveLength(3);
  expect([fixedIds(podIn(text)), refusals(podIn(text), RESTRICTED_V2)]).toEqual([[], []]);
});

it('deploy/openshift/constraints has the SecurityContextConstraints of the chart', async () => {
  const rendered = helmTemplate('--set', 'openshift.enabled=true,connectivity.enabled=true');
  const rules = (objects: readonly Manifest[]): object[] =>
    objects
      .filter(({ kind }) => kind === 'SecurityContextConstraints')
      .map(({ metadata, ...rest }) => ({ ...rest, name: metadata.name }))
      .sort((a, b) => a.name.localeCompare(b.name));
  expect(rules(await built(['openshift/constraints']))).toEqual(rules(rendered));
  expect(rules(rendered)).toHaveLength(2);
});
