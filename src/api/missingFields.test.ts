import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../runtime/client/openApi.ts';
import { openApiSchema } from './crd.ts';
import { lostFields, missingFields } from './missingFields.ts';

import deploymentSpec from './trafficwatch/deploymentSpec.schema.json' with { type: 'json' };
import { trafficWatchSchema } from './trafficwatch/schema.ts';

interface Node {
  [field: string]: Node | undefined;
}

/** The schema of this version's CRD with a change. */
function schema(change: (properties: { spec: Node; status: Node }) => void): JsonSchema {
  const whole = structuredClone(openApiSchema(trafficWatchSchema, deploymentSpec.schema)) as { properties: never };
  change(whole.properties);
  return whole;
}

const ANYTHING = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as unknown as Node;

describe('missingFields', () => {
  it('returns nothing for the CRD of this version', () => {
    expect(missingFields(schema(() => undefined))).toEqual([]);
  });

  it('names each missing field, also with other fields present', () => {
    const published = schema(({ spec, status }) => {
      delete spec.properties!.label;
      delete spec.properties!.placement;
      delete spec.properties!.deployment!.properties!.strategy;
      delete spec.properties!.deployment!.properties!.template!.properties!.metadata!.properties;
      delete status.properties!.conditions!.items!.properties!.observedGeneration;
      delete status.properties!.nodes!.additionalProperties!.properties!.verdict;
      spec.properties!.another = {};
    });
    expect(missingFields(published).sort()).toEqual([
      'spec.deployment.strategy',
      'spec.deployment.template.metadata.annotations',
      'spec.deployment.template.metadata.labels',
      'spec.label',
      'spec.placement',
      'status.conditions[].observedGeneration',
      'status.nodes.*.verdict',
    ]);
  });

  it('names only the parent if a whole object is missing', () => {
    expect(missingFields({ properties: { spec: ANYTHING } })).toEqual(['status']);
    expect(missingFields({})).toEqual(['spec', 'status']);
    const noEntries = schema(({ status }) => {
      delete status.properties!.nodes!.additionalProperties;
    });
    expect(missingFields(noEntries)).toEqual(['status.nodes.*']);
  });

  it('returns nothing if the schema preserves unknown fields', () => {
    expect(missingFields(ANYTHING)).toEqual([]);
    const loose = schema(({ spec, status }) => {
      spec.properties!.deployment = ANYTHING;
      status.properties = { nodes: { additionalProperties: ANYTHING }, conditions: { items: ANYTHING } };
      Object.assign(status, { 'x-kubernetes-preserve-unknown-fields': true });
    });
    expect(missingFields(loose)).toEqual([]);
    expect(missingFields({ additionalProperties: true })).toEqual([]);
  });
});

describe('lostFields', () => {
  it.each<[string, unknown, unknown, string[]]>([
    ['equal values', { a: 1, b: [{ c: 1 }] }, { a: 1, b: [{ c: 1 }] }, []],
    ['a field with another value', { a: 1 }, { a: 2 }, []],
    ['another type: the value was replaced', { a: { b: 1 } }, { a: 'x' }, []],
    ['a new field', { a: 1 }, { a: 1, b: 2 }, []],
    ['a field without a value', { a: undefined }, {}, []],
    ['a field that is gone', { a: 1, b: { c: 1 } }, { a: 1 }, ['spec.b']],
    ['a field within an object', { b: { c: 1, d: 2 } }, { b: { d: 2 } }, ['spec.b.c']],
    ['a field of each entry of a list', { b: [{ c: 1 }, { c: 2 }] }, { b: [{}, {}] }, ['spec.b[].c']],
    ['a list of another length', { b: [{ c: 1 }, { d: 2 }] }, { b: [{ d: 2 }] }, []],
    ['no object at all', { a: 1 }, undefined, ['spec']],
  ])('finds of %s', (_what, before, after, lost) => {
    expect(lostFields(before, after, 'spec')).toEqual(lost);
  });
});
