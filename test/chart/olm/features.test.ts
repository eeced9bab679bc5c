import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { helmTemplate, type Manifest } from '../../../scripts/chart/helm.ts';
import { bundle } from '../../../scripts/generate/bundle/bundle.ts';
import { FEATURES, type Feature } from '../../../scripts/generate/features.ts';
import { writeFiles } from '../../../scripts/generate/file.ts';
import { problems } from '../../../scripts/olm/validators.ts';
import { find } from '../rendered.ts';
import { csvOf, manifestsOf } from './files.ts';

/** CRD, rights, flag, example and description of a feature come and go together: none of them is of use without the others. */
const KINDS: Readonly<Record<Feature, string>> = { weights: 'TrafficWeight' };
/** Without a feature. */
const OWN_KINDS = ['ConnectivityCheck', 'PodPlacement', 'TrafficStack', 'TrafficWatch'];
/** Users create none: it has no example. */
const INTERNAL = 'PodPlacement';
let root: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'features-'));
});
afterAll(() => rmSync(root, { recursive: true }));

describe.each<[Feature[]]>([[[]], [['weights']]])('a bundle without %j', (without) => {
  const given = FEATURES.filter((feature) => !without.includes(feature));
  const crdKinds = [...OWN_KINDS, ...given.map((feature) => KINDS[feature])].sort();
  const kinds = crdKinds.filter((kind) => kind !== INTERNAL);
  let directory: string;

  beforeAll(() => {
    writeFiles(join(root, String(without)), bundle({ without }));
    directory = join(root, String(without), 'bundle');
  });

  it('is valid', () => {
    expect(problems(directory)).toEqual([]);
  });

  it(`has the kinds ${crdKinds.join(', ')}`, () => {
    const { metadata, spec } = csvOf(directory);
    const examples = JSON.parse(metadata.annotations['alm-examples']!) as Manifest[];
    const crds = manifestsOf(directory).filter(({ kind }) => kind === 'CustomResourceDefinition');
    expect(crds.map((crd) => (crd.spec as { names: { kind: string } }).names.kind).sort()).toEqual(crdKinds);
    expect(spec.customresourcedefinitions.owned.map(({ kind }) => kind).sort()).toEqual(crdKinds);
    expect(examples.map(({ kind }) => kind).sort()).toEqual(kinds);
  });

  it('has the rights of the rest, and no others', () => {
    const values = FEATURES.flatMap((feature) => ['--set', `${feature}.enabled=${given.includes(feature)}`]);
    const objects = helmTemplate(...values);
    const { clusterPermissions, permissions } = csvOf(directory).spec.install.spec;
    const processes = given.includes('weights') ? (['manager', 'weights'] as const) : (['manager'] as const);
    const rules = (kind: string): { rules: object[] }[] =>
      processes.map((process) => ({ rules: find(objects, kind, false, process).rules as object[] }));
    expect(clusterPermissions).toMatchObject(rules('ClusterRole'));
    expect(permissions).toMatchObject(rules('Role'));
    const groups = JSON.stringify([clusterPermissions, permissions]);
    expect(groups.includes('"dnsendpoints"')).toBe(given.includes('weights'));
  });

  it('has the flags of the rest, as variables that a Subscription can replace', () => {
    const { description, install } = csvOf(directory).spec;
    const { env = [] } = install.spec.deployments[0]!.spec!.template.spec!.containers[0]!;
    for (const feature of FEATURES) {
      const name = `TRAFFIC_OPERATOR_${feature.toUpperCase()}`;
      const isGiven = given.includes(feature);
      expect(env.filter((one) => one.name === name)).toEqual(isGiven ? [{ name, value: 'true' }] : []);
      expect(description.includes(name)).toBe(isGiven);
    }
  });
});
