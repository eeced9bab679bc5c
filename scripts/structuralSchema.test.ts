import { describe, expect, it } from 'vitest';
import { type JsonSchema, structuralSchema } from './structuralSchema.ts';

const REFERENCE = '#/components/schemas/';

/** The schema of a type with one field, among other types that it may reference. */
function fieldOf(field: JsonSchema, others: Record<string, JsonSchema> = {}, own: JsonSchema = {}) {
  const types = { Own: { type: 'object', properties: { field }, ...own }, ...others };
  return structuralSchema(types, 'Own').properties?.field;
}

describe('structuralSchema', () => {
  it('puts a type in the place of its reference; the description of the field wins over the description of the type', () => {
    const other = { Other: { type: 'string', description: 'The type.' } };
    const allOf = [{ $ref: `${REFERENCE}Other` }];
    expect(fieldOf({ allOf, description: 'The field.' }, other)).toEqual({ type: 'string', description: 'The field.' });
    expect(fieldOf({ $ref: `${REFERENCE}Other` }, other)).toEqual({ type: 'string', description: 'The type.' });
  });

  it('drops a default, which would satisfy a required field silently', () => {
    expect(fieldOf({ type: 'string', default: '' }, {}, { required: ['field'] })).toEqual({ type: 'string' });
  });

  it('keeps the default of a list map key, and requires a key that has none', () => {
    const keys = ['port', 'protocol', 'name'];
    const port: JsonSchema = {
      type: 'object',
      required: ['port'],
      properties: {
        port: { type: 'integer', default: 0 },
        protocol: { type: 'string', default: 'TCP' },
        name: { type: 'string', default: '' },
      },
    };
    const list = { type: 'array', items: { $ref: `${REFERENCE}Port` }, 'x-kubernetes-list-map-keys': keys };
    expect(fieldOf(list, { Port: port })?.items).toEqual({
      type: 'object',
      required: ['port', 'name'],
      properties: {
        port: { type: 'integer' },
        protocol: { type: 'string', default: 'TCP' },
        name: { type: 'string' },
      },
    });
  });

  it('lets an optional choice be empty text, as built-in types do, and a required one not', () => {
    expect(fieldOf({ type: 'string', enum: ['A'] })?.enum).toEqual(['', 'A']);
    expect(fieldOf({ type: 'string', enum: ['A'] }, {}, { required: ['field'] })?.enum).toEqual(['A']);
  });

  it('makes a number or text of a port, and of a quantity with its pattern', () => {
    const port = { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] };
    const both = { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] };
    expect(fieldOf(port)).toEqual(both);
    const name = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
    const quantity = fieldOf({ $ref: REFERENCE + name }, { [name]: { oneOf: [{ type: 'string' }] } });
    expect(quantity).toMatchObject(both);
    const pattern = new RegExp(quantity?.pattern ?? 'none');
    expect(['500m', '1.5Gi', '.5', '1e3', '-1', '12'].filter((text) => !pattern.test(text))).toEqual([]);
    expect(['', 'm', '1 Gi', '1GB', 'x'].filter((text) => pattern.test(text))).toEqual([]);
  });

  it.each([
    ['One sentence. A second sentence.', 'One sentence.'],
    ['No full stop', 'No full stop'],
    ['With e.g. an example. And more.', 'With e.g. an example.'],
    ['Version 1.2 is here. Yes.', 'Version 1.2 is here.'],
    ['A line.\n\nA list:\n- x', 'A line.'],
  ])('keeps the first sentence of %j', (description, first) => {
    expect(fieldOf({ type: 'string', description })?.description).toBe(first);
  });

  it('leaves out what a CRD may not carry', () => {
    const list: JsonSchema = {
      type: 'array',
      items: { type: 'string' },
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-patch-strategy': 'merge',
    };
    expect(fieldOf(list)).toEqual({ type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' });
  });

  it('says which type is missing', () => {
    expect(() => fieldOf({ $ref: `${REFERENCE}Gone` })).toThrow('the document has no type Gone');
  });
});
