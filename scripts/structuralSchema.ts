/** An OpenAPI v3 schema object, as published by the API server or contained in a CRD. */
export interface JsonSchema {
  type?: string;
  format?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  pattern?: string;
  required?: string[];
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  allOf?: JsonSchema[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  $ref?: string;
  [extension: `x-kubernetes-${string}`]: unknown;
}

const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
/** Pattern of a quantity, as controller-gen writes it into CRDs. */
const QUANTITY_PATTERN = String.raw`^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`;
const FIELDS_V1 = 'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1';
/** Extensions that a CRD may contain. The others (patch strategies, unions, kinds) belong to built-in types. */
const EXTENSIONS = ['x-kubernetes-list-type', 'x-kubernetes-list-map-keys', 'x-kubernetes-map-type'] as const;

/**
 * Converts a type of the API server's OpenAPI v3 document into a structural schema for a CRD, without references. Types
 * must not be recursive. Keeps types, formats, enums, required fields, list and map types, and the first sentence of
 * each description. Drops defaults, because `""` and `{}` would silently satisfy required fields, except for keys of
 * list maps, which require them.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
export function structuralSchema(types: Readonly<Record<string, JsonSchema>>, name: string): JsonSchema {
  const own = types[name];
  if (own === undefined) throw new Error(`the document has no type ${name}`);
  if (name === QUANTITY) return intOrString({ ...own, pattern: QUANTITY_PATTERN });
  if (name === FIELDS_V1) return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return convert(types, own);
}

function convert(types: Readonly<Record<string, JsonSchema>>, schema: JsonSchema): JsonSchema {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (reference !== undefined) {
    const target = structuralSchema(types, reference.slice(reference.lastIndexOf('/') + 1));
    return { ...target, ...described(schema) };
  }
  if (schema.format === 'int-or-string') return intOrString(schema);
  return { ...leaf(schema), ...nested(types, schema) };
}

function leaf(schema: JsonSchema): JsonSchema {
  const extensions = EXTENSIONS.flatMap((key) => (schema[key] === undefined ? [] : [[key, schema[key]] as const]));
  return {
    ...described(schema),
    ...(schema.type !== undefined && { type: schema.type }),
    ...(schema.format !== undefined && { format: schema.format }),
    ...(schema.enum !== undefined && { enum: schema.enum }),
    ...(schema.required !== undefined && { required: schema.required }),
    ...Object.fromEntries(extensions),
  };
}

function nested(types: Readonly<Record<string, JsonSchema>>, schema: JsonSchema): JsonSchema {
  const { properties, items, additionalProperties } = schema;
  return {
    ...(properties && { properties: convertProperties(types, properties, schema.required ?? []) }),
    ...(items && { items: convertItems(types, items, schema['x-kubernetes-list-map-keys']) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: convert(types, additionalProperties) }),
  };
}

function convertProperties(
  types: Readonly<Record<string, JsonSchema>>,
  properties: Record<string, JsonSchema>,
  required: readonly string[],
): Record<string, JsonSchema> {
  const converted = Object.entries(properties).map(([name, property]) => {
    const schema = convert(types, property);
    // Built-in types accept the empty string as "not set" for optional fields.
    if (schema.enum && !required.includes(name)) schema.enum = [...new Set(['', ...schema.enum])];
    return [name, schema] as const;
  });
  return Object.fromEntries(converted);
}

/** Keys of a list map must be required or have a default. The API server has this default. */
function convertItems(types: Readonly<Record<string, JsonSchema>>, items: JsonSchema, keys: unknown): JsonSchema {
  const converted = convert(types, items);
  if (!Array.isArray(keys)) return converted;
  const original = resolve(types, items);
  const missing: string[] = [];
  for (const key of keys as string[]) {
    const property = converted.properties?.[key];
    if (property === undefined || converted.required?.includes(key)) continue;
    const fallback = original.properties?.[key]?.default;
    if (fallback === undefined || fallback === '') missing.push(key);
    else property.default = fallback;
  }
  if (missing.length > 0) converted.required = [...(converted.required ?? []), ...missing];
  return converted;
}

function resolve(types: Readonly<Record<string, JsonSchema>>, schema: JsonSchema): JsonSchema {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  return reference === undefined ? schema : (types[reference.slice(reference.lastIndexOf('/') + 1)] ?? schema);
}

function intOrString(schema: JsonSchema): JsonSchema {
  return {
    ...described(schema),
    ...(schema.pattern !== undefined && { pattern: schema.pattern }),
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
  };
}

/** The first sentence. Full descriptions make the CRD too large for client-side `kubectl apply` (256 KiB). */
function described(schema: JsonSchema): { description?: string } {
  if (schema.description === undefined) return {};
  const firstLine = schema.description.split('\n', 1)[0] ?? '';
  return { description: /^.*?(?<!\b(?:e\.g|i\.e|etc|vs))[.](?=\s|$)/.exec(firstLine)?.[0] ?? firstLine };
}
