import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { messageOf } from '../testing/usageProblem.ts';
import { defaultText, flagName, type Flag } from '../../options/flagTable.ts';
import { readFlags } from '../../options/readFlags.ts';
import { weights } from './command.ts';
import { WEIGHTS_FLAGS, nameOf, specOf } from './flags.ts';

const CLUSTER = '--cluster-name=cluster-a';
const specFrom = (...args: string[]) =>
  specOf(readFlags({ name: 'weights', flags: WEIGHTS_FLAGS }, [CLUSTER, ...args], {}));

describe('the spec of the flags', () => {
  it('has the defaults of k8s-traffic-controller', () => {
    expect(specFrom()).toEqual({
      clusterName: 'cluster-a',
      acknowledge: 'Observed',
      backend: { static: { weight: 0 } },
    });
  });

  it.each(['dynamodb', 'dynamoDB'])('has the table, with --backend-type=%s', (type) => {
    const args = [
      `--backend-type=${type}`,
      '--table-name=weights',
      '--aws-region=us-east-1',
      '--initial-weight=100',
      '--allow-all-zero',
    ];
    expect(specFrom(...args).backend).toEqual({
      dynamodb: { tableName: 'weights', region: 'us-east-1', initialWeight: 100, allowAllZero: true },
    });
  });

  it("is read as Go's flag package does: with one dash, and with the value apart", () => {
    const args = ['-binding-domain', 'example.org', '-initial-weight', '7', '-annotation-filter=a/b=c'];
    expect(specFrom(...args)).toEqual(
      specFrom('--binding-domain=example.org', '--initial-weight=7', '--annotation-filter=a/b=c'),
    );
  });

  it('has the hosted zones', () => {
    expect(specFrom('--hosted-zone-ids=Z1,Z2').hostedZoneIDs).toEqual(['Z1', 'Z2']);
  });

  it('has what selects and marks', () => {
    const args = ['--annotation-filter=a/b=c', '--annotation-prefix=dns.example.org', '--aws-health-check-id=abc'];
    expect(specFrom(...args, '--acknowledge=Applied')).toMatchObject({
      ...{ annotationFilter: 'a/b=c', annotationPrefix: 'dns.example.org', healthCheckID: 'abc' },
      acknowledge: 'Applied',
    });
  });

  it.each([
    ['example.org', 'example.org'],
    ['Example.org.', 'example.org'],
    ['.example.org', '.example.org'],
  ])('has the domain of --binding-domain=%s', (given, domain) => {
    expect(specFrom(`--binding-domain=${given}`).bindingDomain).toBe(domain);
  });

  it('takes an empty value for none, as templates write it', () => {
    const args = ['--binding-domain=', '--annotation-filter=', '--aws-health-check-id=', '--annotation-prefix='];
    expect(specFrom(...args)).toEqual(specFrom());
    expect(specFrom('--backend-type=dynamodb', '--aws-region=', '--table-name=').backend).toEqual({
      dynamodb: { initialWeight: 0 },
    });
  });
});

/** The table of flags in the README of k8s-traffic-controller, with --aws-health-check-id, which only its code has. */
it.each([
  ['metrics-addr', ':8080'],
  ['cluster-name', ''],
  ['aws-region', 'eu-west-1'],
  ['binding-domain', 'all hosts'],
  ['backend-type', 'fake'],
  ['annotation-filter', 'all Ingresses'],
  ['table-name', 'traffic-controller'],
  ['initial-weight', '0'],
  ['enable-leader-election', 'false'],
  ['dev-mode', 'false'],
  ['annotation-prefix', 'dns.adevinta.com'],
  ['aws-health-check-id', 'none'],
])('the flag --%s of k8s-traffic-controller has its default %j, and a row in the migration guide', (name, standard) => {
  const [, flag] = Object.entries<Flag>(WEIGHTS_FLAGS).find(([key]) => flagName(key) === name) ?? [];
  expect(flag && defaultText(flag)).toBe(standard);
  const page = readFileSync(new URL('../../../docs/weights.md', import.meta.url), 'utf8');
  const [, guide = ''] = /^[|] Flag [|] Field of `spec` [|]$(.*?)^$/ms.exec(page) ?? [];
  expect(guide).toMatch(new RegExp(`--${name}\\b`));
});

it('takes the arguments of the migration guide', () => {
  const page = readFileSync(new URL('../../../docs/weights.md', import.meta.url), 'utf8');
  const [, yaml = ''] = /^```yaml\n(containers:.*?)^```/ms.exec(page) ?? [];
  const { containers } = parse(yaml) as { containers: [{ args: [string, ...string[]] }] };
  const [command, ...args] = containers[0].args;
  expect(command).toBe(weights.name);
  expect(args.length).toBeGreaterThan(5);
  expect(weights.prepare(args, {})).toBeDefined();
});

it('has another name for another selection of Ingresses, and no other one', () => {
  const name = (...args: string[]): string => nameOf(specFrom(...args));
  expect(name()).toMatch(/^weights-[0-9a-f]{8}$/);
  expect(name('--initial-weight=7', '--aws-health-check-id=x')).toBe(name());
  const others = [['--annotation-filter=a/b=c'], ['--annotation-filter=a/b=d'], ['--binding-domain=example.org']];
  expect(new Set([name(), ...others.map((args) => name(...args))]).size).toBe(4);
});

describe('a flag that no TrafficWeight may have', () => {
  it.each([
    [[], '--cluster-name: is required: the name of this cluster'],
    [
      [CLUSTER, '--annotation-filter=all'],
      /^--annotation-filter=all: must be the key of an annotation, "=" and its value/,
    ],
    [[CLUSTER, '--binding-domain=a b'], /^--binding-domain=a b: must be a domain/],
    [
      [CLUSTER, '--hosted-zone-ids=Z1,example.org'],
      /^--hosted-zone-ids=Z1,example.org: must be the ID of a hosted zone/,
    ],
    [[CLUSTER, '--annotation-prefix=a/b'], /^--annotation-prefix=a\/b: must be a DNS name/],
    [[CLUSTER, '--backend-type=configmap'], '--backend-type=configmap: must be fake or dynamodb'],
    [[CLUSTER, '--initial-weight=300'], '--initial-weight=300: must be a whole number from 0 to 255'],
    [[CLUSTER, '--backend-type=dynamodb', '--aws-region=Ireland'], /^--aws-region=Ireland: must be an AWS region/],
    [[CLUSTER, '--backend-type=dynamodb', '--table-name=a'], /^--table-name=a: must be the name of a table/],
    [[CLUSTER, `--aws-health-check-id=${'x'.repeat(65)}`], /^--aws-health-check-id=x+: /],
  ])('%j is rejected', (args, message) => {
    expect(messageOf(() => weights.prepare(args, {}))).toMatch(message);
  });
});
