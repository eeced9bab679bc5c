import type { V1JSONSchemaProps } from '@kubernetes/client-node';

/** A field as consoles show it (SpecDescriptor and StatusDescriptor of operators.coreos.com/v1alpha1). */
export interface Descriptor {
  /** Such as `passes.unfit` or `capacity[0].value`, without `spec.` or `status.`. */
  path: string;
  displayName: string;
  description: string;
  'x-descriptors'?: string[];
}

/** Fields with the schema of a kind of Kubernetes, whose own fields are not described here. */
const FOREIGN = ['deployment', 'podTemplate', 'volumeClaimTemplates'];
const UI = 'urn:alm:descriptor:com.tectonic.ui';
const CONDITIONS = 'urn:alm:descriptor:io.kubernetes.conditions';
/** Words that are not written as the algorithm would. */
const WORDS: Readonly<Record<string, string>> = {
  api: 'API',
  dns: 'DNS',
  dynamodb: 'DynamoDB',
  http: 'HTTP',
  id: 'ID',
  ids: 'IDs',
  mtu: 'MTU',
  ttl: 'TTL',
  urls: 'URLs',
};

/** The descriptors of the fields below a schema, parents before their children. */
export function descriptors(schema: V1JSONSchemaProps | undefined, above = ''): Descriptor[] {
  return Object.entries(schema?.properties ?? {}).flatMap(([field, child]) => {
    const path = above + field;
    const own = descriptor(path, field, child);
    if (FOREIGN.includes(field)) return [own];
    const items = child.items as V1JSONSchemaProps | undefined;
    return [own, ...descriptors(child, `${path}.`), ...descriptors(items, `${path}[0].`)];
  });
}

function descriptor(path: string, field: string, schema: V1JSONSchemaProps): Descriptor {
  const hints = controls(field, schema);
  return {
    path,
    displayName: displayName(field),
    description: schema.description ?? '',
    ...(hints.length > 0 && { 'x-descriptors': hints }),
  };
}

/** Which control a console uses for the field. A field without one is edited as YAML. */
function controls(field: string, schema: V1JSONSchemaProps): string[] {
  if (field === 'conditions') return [CONDITIONS];
  const values = allowedValues(schema);
  if (values !== undefined) return values.map((value) => `${UI}:select:${String(value)}`);
  switch (schema.type) {
    case 'boolean':
      return [`${UI}:booleanSwitch`];
    case 'integer':
    case 'number':
      return [`${UI}:number`];
    case 'string':
      return [`${UI}:text`];
    default:
      return [];
  }
}

/** The CRD is JSON with the key `enum`, which has another name in the type. */
function allowedValues(schema: object): unknown[] | undefined {
  return (schema as { enum?: unknown[] }).enum;
}

/** `maxBandwidthPercent` is Max Bandwidth Percent. */
function displayName(field: string): string {
  const words = field.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').split(' ');
  return words
    .map((word) => WORDS[word.toLowerCase()] ?? word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
    .join(' ');
}
