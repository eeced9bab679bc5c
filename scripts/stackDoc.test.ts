import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { ComponentReason, StackCondition, StackEvent, StackReason } from '../src/api/trafficstack/reasons.ts';
import {
  COMPONENT_MODES,
  COMPONENT_STATES,
  COMPONENT_TYPES,
  FOREIGN_TYPES,
  WORKLOAD_KINDS,
} from '../src/api/trafficstack/terms.ts';
import { createTrafficStackMetrics } from '../src/controllers/trafficstack/metrics.ts';

/** The tables and names of docs/stack.md against the code. That its examples work is tested in integration/stacks/stackDoc. */
const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const PAGE = read('docs/stack.md');
const PROSE = PAGE.replaceAll(/^ *```.*?^ *```$/gms, '');
const [INTRODUCTION = '', ...SECTIONS] = PAGE.split(/^## /m);
const HEADINGS = SECTIONS.map((text) => text.split('\n', 1)[0]!);

/** Rows of the table whose first heading is this: their cells. */
function table(heading: string): string[][] {
  const lines = PAGE.split('\n');
  // A row may begin with the same word as another table.
  const begin = lines.findIndex(
    (line, at) => line.startsWith(`| ${heading} |`) && lines[at + 1]?.startsWith('|---') === true,
  );
  expect(begin, `the table ${heading}`).toBeGreaterThan(-1);
  const rows = lines.slice(begin + 2);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return rows.slice(0, end).map((line) => line.slice(2, -2).split(' | '));
}

/** The words between backticks, alone. */
const quoted = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, inner = '']) => inner);
/** The text between backticks at the beginning of rows. */
const firstsIn = (text: string): string[] => [...text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = '']) => name);
const firstsOf = (heading: string): string[] => table(heading).flatMap(([first = '']) => quoted(first));

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly string[];
}

const CRD = parse(read('deploy/crds/traffic.example.com_trafficstacks.yaml')) as V1CustomResourceDefinition;
const { spec: SPEC, status: STATUS } = CRD.spec.versions[0]!.schema!.openAPIV3Schema!.properties as Record<
  string,
  Schema
>;
const COMPONENT = SPEC!.properties!.components!.items!;
const STATUS_COMPONENT = STATUS!.properties!.components!.items!;
const fieldsOf = (schema: Schema | undefined): string[] => Object.keys(schema?.properties ?? {});

describe('the headings', () => {
  it('are all in the list at the top, in their order', () => {
    const listed = [...INTRODUCTION.matchAll(/^- \[(.+?)\]/gm)].map(([, title]) => title);
    expect(listed).toEqual(HEADINGS);
  });
});

describe('the fields', () => {
  it('of a component match the CRD', () => {
    const named = [
      ...firstsOf('Field of `spec.components[]`'),
      ...firstsOf('Field of `workload`'),
      ...firstsOf('Field'),
    ]
      .filter((name) => !name.startsWith('upgrade.'))
      .map((name) => name.replace('components[].', ''));
    const workload = fieldsOf(COMPONENT.properties!.workload).map((name) => `workload.${name}`);
    expect(named.sort()).toEqual([...fieldsOf(COMPONENT), ...workload].sort());
  });

  it.each<[heading: string, schema: Schema | undefined]>([
    ['`dashboards`', COMPONENT.properties!.dashboards],
    ['`rules`', COMPONENT.properties!.rules],
  ])('of %s match the CRD', (heading, schema) => {
    expect(firstsOf(heading)).toEqual(fieldsOf(schema));
  });

  it('of upgrades match the CRD', () => {
    const named = firstsOf('Field').filter((name) => name.startsWith('upgrade.'));
    expect(named).toEqual(fieldsOf(SPEC!.properties!.upgrade).map((name) => `upgrade.${name}`));
  });

  it('of the built-in types match the CRD', () => {
    const rows = table('Type').map(([type = '', , settings = '']) => [...quoted(type), ...quoted(settings)]);
    const expected = (type: string, field: string): string[] => [
      type,
      field,
      ...fieldsOf(COMPONENT.properties![field]),
    ];
    expect(rows).toEqual([
      expected('NodeExporter', 'nodeExporter'),
      expected('Prometheus', 'prometheus'),
      expected('ConnectivityServer', 'connectivityServer'),
      expected('ConnectivityAgents', 'connectivityAgents'),
    ]);
  });

  it('of the status match the CRD', () => {
    expect(firstsOf('Field of the status').sort()).toEqual(fieldsOf(STATUS).sort());
    const components = table('Field of the status').find(([first]) => first === '`components`')![1]!;
    expect(quoted(components).sort()).toEqual(fieldsOf(STATUS_COMPONENT).sort());
  });

  it.each([
    ...fieldsOf(SPEC).map((name) => [`spec.${name}`, name] as const),
    ...fieldsOf(SPEC!.properties!.common).map((name) => [`spec.common.${name}`, name] as const),
    ...fieldsOf(SPEC!.properties!.highAvailability).map((name) => [`spec.highAvailability.${name}`, name] as const),
  ])('%s is on the page', (_path, name) => {
    // In a path between backticks, or as a key of an example.
    expect(PAGE).toMatch(new RegExp(`\`([a-zA-Z.]+[.])?${name}([.[][^\`]*)?\`|^[- ]*${name}:`, 'm'));
  });
});

describe('the values', () => {
  const rows = [...table('Field of `spec.components[]`'), ...table('Field of `workload`')];
  const row = (name: string): string => rows.find(([first]) => first === name)![1]!;

  it.each<[field: string, values: readonly string[]]>([
    ['`type`', COMPONENT_TYPES],
    ['`mode`', COMPONENT_MODES],
    ['`workload.kind`', WORKLOAD_KINDS],
    ['`workload.volumeClaimPolicy`', COMPONENT.properties!.workload!.properties!.volumeClaimPolicy!.enum!],
  ])('of %s are all named', (field, values) => {
    expect(quoted(row(field)).sort()).toEqual([...values].sort());
  });

  it('of `mode` are in the three tables, but for that without objects', () => {
    const rows = PAGE.split('\n').flatMap((line) => /^\| `(Managed|External|Auto|Disabled)` \|/.exec(line)?.[1] ?? []);
    const expected = COMPONENT_MODES.filter((mode) => mode !== 'Disabled');
    expect(rows).toEqual([...expected, ...expected, ...expected]);
  });

  it('of `mode`: each type that may be of another owner has a section about it', () => {
    const sections = SECTIONS.filter((text) => /^(?:\| `External` \|)|[Ww]ith `External`, `weights`/m.test(text));
    expect(sections).toHaveLength(FOREIGN_TYPES.length);
  });
});

describe('other names', () => {
  it('of columns match the CRD', () => {
    const { additionalPrinterColumns = [] } = CRD.spec.versions[0]!;
    const shown = additionalPrinterColumns.filter(({ priority = 0 }) => priority === 0);
    const expected = ['NAME', ...shown.map(({ name }) => name.toUpperCase())];
    const headings = PAGE.split('\n').filter((line) => /^NAME .*\bMESSAGE\b/.test(line));
    expect(headings.length).toBeGreaterThan(4);
    for (const heading of headings) expect(heading.split(/ +/)).toEqual(expected);
  });

  it('of flags match the operator', () => {
    // Of kubectl, helm and node-exporter.
    const others = /^--(cascade|force|reset-then-reuse-values|type|web\.listen-address|set)$/;
    const flags = quoted(PROSE).flatMap((text) => text.match(/(?<=^| )--[a-z.-]+/g) ?? []);
    expect(flags).toContain('--default-stack');
    const known = new Set(firstsIn(read('docs/flags.md')));
    expect(flags.filter((flag) => !others.test(flag) && !known.has(flag))).toEqual([]);
  });

  it('of values match the chart', () => {
    const values = parse(read('charts/traffic-operator/values.yaml')) as object;
    const has = (path: string): boolean =>
      path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], values) !==
      undefined;
    const named = quoted(PROSE).flatMap(
      (text) => /^[\w.]+\.(?:enabled|url|secretName|default)(?==|$)/.exec(text) ?? [],
    );
    expect(named).toEqual(expect.arrayContaining(['stacks.enabled', 'stacks.default', 'prometheus.url']));
    expect(named.filter((path) => !has(path))).toEqual([]);
  });
});

describe('the status', () => {
  it('has the states in the order of the code', () => {
    expect(firstsOf('State')).toEqual([...COMPONENT_STATES]);
  });

  it('has the conditions', () => {
    expect(firstsOf('Condition')).toEqual(Object.values(StackCondition));
  });

  it('has every reason of a component', () => {
    expect(firstsOf('Reason of a component').sort()).toEqual(Object.values(ComponentReason).sort());
    expect(Object.values<string>(ComponentReason)).toEqual(expect.arrayContaining(firstsOf('Reason')));
  });

  it.each<[heading: string, known: readonly string[], others: readonly string[]]>([
    ['Reason of a component', COMPONENT_STATES, ['any but `Ready`']],
    ['Reason of a condition', Object.values(StackCondition), ['all']],
  ])('%s: the second column names what there is', (heading, known, others) => {
    for (const [, second = ''] of table(heading)) {
      if (others.includes(second)) continue;
      expect(quoted(second).length).toBeGreaterThan(0);
      expect(known).toEqual(expect.arrayContaining(quoted(second)));
    }
  });

  it('has every reason of a condition', () => {
    expect(firstsOf('Reason of a condition').sort()).toEqual(Object.values(StackReason).sort());
  });
});

describe('the Events', () => {
  it('that name a component match the code', () => {
    const ofConditions = [StackReason.ComponentFailed, StackReason.ComponentDegraded];
    expect(firstsOf('Reason of an Event').sort()).toEqual([...Object.values(StackEvent), ...ofConditions].sort());
    expect(new Set(table('Reason of an Event').map(([, type]) => type))).toEqual(new Set(['Normal', 'Warning']));
  });
});

describe('the metrics', () => {
  it('are those that are registered, with their labels', async () => {
    const registry = new Registry();
    createTrafficStackMetrics(registry);
    const registered = registry.getMetricsAsArray().map((metric) => {
      const { name, labelNames } = metric as unknown as { name: string; labelNames: string[] };
      return `${name}{${labelNames.join(', ')}}`;
    });
    expect(firstsOf('Metric')).toEqual(registered);
    expect((await registry.getMetricsAsJSON()).length).toBe(registered.length);
  });

  it('and alerts on the page exist', () => {
    const all = `${read('docs/metrics.md')}\n${read('prometheus/rules/alerts.yml')}`;
    const named = [...PAGE.matchAll(/\b(traffic_operator_[a-z_]+|TrafficStack(?:Not|Comp|Stal)[A-Za-z]+)\b/g)];
    expect(named.length).toBeGreaterThan(10);
    expect(named.map(([name]) => name).filter((name) => !all.includes(name))).toEqual([]);
  });
});

describe('the alerts', () => {
  interface Rule {
    readonly alert: string;
    readonly expr: string;
    readonly for: string;
  }
  const { groups } = parse(read('prometheus/rules/alerts.yml')) as { groups: { name: string; rules: Rule[] }[] };
  const rules = groups.find(({ name }) => name === 'stacks')!.rules;

  it('match the rules, and say after which time', () => {
    const rows = table('Alert').map(([alert = '', text = '']) => [
      /\[(\w+)\]/.exec(alert)?.[1],
      /^\d+/.exec(text)?.[0],
    ]);
    // TrafficStackNotReady has its time in the expression: seconds.
    const minutes = (rule: Rule): string => {
      const [, seconds] = /time\(\)[^>]+> (\d+)/.exec(rule.expr) ?? [];
      return seconds === undefined ? rule.for.replace(/m$/, '') : String(Number(seconds) / 60);
    };
    expect(rows.sort()).toEqual(rules.map((rule) => [rule.alert, minutes(rule)]).sort());
  });
});
