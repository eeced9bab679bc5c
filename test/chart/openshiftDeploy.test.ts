import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { helmTemplate, type Manifest } from '../../scripts/chart/helm.ts';
import { binary } from '../lab/binaries.ts';
import { DEPLOY, run } from './cluster.ts';
import { find, podOf } from './rendered.ts';
import { withoutIds } from './withoutIds.ts';

/** deploy/openshift, as a kustomization beside deploy/ uses it. */
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

const VARIABLE = { name: 'TRAFFIC_OPERATOR_OPENSHIFT', value: 'true' };

describe('the component deploy/openshift', () => {
  it.each([
    ['.', 1],
    ['cleanup', 1],
    ['connectivity', 3],
  ])('takes the IDs off the pods of deploy/%s, and changes nothing else', async (path, pods) => {
    const plain = await built([path]);
    const changed = await built([path], ['openshift']);
    const text = JSON.stringify(changed);
    expect(JSON.parse(text.replace(`${JSON.stringify(VARIABLE)},`, ''))).toEqual(withoutIds(plain));
    expect(JSON.stringify(plain).match(/"runAsUser":\d/g)).toHaveLength(pods);
  });

  it('tells the operator by its variable', async () => {
    const [container] = podOf(find(await built(['.'], ['openshift']), 'Deployment')).containers;
    expect((container as unknown as { env: object[] }).env).toContainEqual(VARIABLE);
  });
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
