import type { V1DeploymentSpec } from '@kubernetes/client-node';
import type { JsonSchema } from '../runtime/client/openApi.ts';
import { openApiSchema } from './crd.ts';
import { trafficWatchSchema } from './trafficwatch/schema.ts';

/**
 * The parts of a pod template that a CRD may lack even though it has the template. For example, kubebuilder generates
 * no fields for embedded metadata: https://book.kubebuilder.io/reference/generating-crd
 */
const TEMPLATE: JsonSchema = {
  properties: { metadata: { properties: { labels: {}, annotations: {} } }, spec: { properties: { affinity: {} } } },
};

/** Every field of a DeploymentSpec. The other fields of the pod template depend on the version of Kubernetes. */
const DEPLOYMENT: Readonly<Record<keyof V1DeploymentSpec, JsonSchema>> = {
  minReadySeconds: {},
  paused: {},
  progressDeadlineSeconds: {},
  replicas: {},
  revisionHistoryLimit: {},
  selector: {},
  strategy: {},
  template: TEMPLATE,
};

/** Fields that the API server keeps whatever the schema is. */
const ALWAYS_KEPT: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Returns the fields of a TrafficWatch that the API server drops, because the installed CRD is older than the operator and
 * lacks them: paths such as `spec.label` and `status.nodes.*.verdict`. If a whole object is missing, only its own path is
 * returned, not the paths of its fields.
 *
 * @param published the schema that the API server publishes
 */
export function missingFields(published: JsonSchema): string[] {
  const needed = openApiSchema(trafficWatchSchema, { properties: DEPLOYMENT }) as JsonSchema;
  return Object.entries(needed.properties ?? {})
    .filter(([name]) => !ALWAYS_KEPT.has(name))
    .flatMap(([name, schema]) => lacking(schema, published, name, name));
}

/** The paths at or below the field `name` that an object of the schema `published` does not keep. */
function lacking(needed: JsonSchema, published: JsonSchema, name: string, path: string): string[] {
  const field = Object.entries(published.properties ?? {}).find(([key]) => key === name)?.[1] ?? extraOf(published);
  return field === undefined ? [path] : within(needed, field, path);
}

function within(needed: JsonSchema, published: JsonSchema, path: string): string[] {
  const properties = Object.entries(needed.properties ?? {});
  return [
    ...properties.flatMap(([name, schema]) => lacking(schema, published, name, `${path}.${name}`)),
    ...(needed.items === undefined ? [] : within(needed.items, published.items ?? KEEPS_ALL, `${path}[]`)),
    ...(isSchema(needed.additionalProperties)
      ? lacking(needed.additionalProperties, { ...published, properties: {} }, '', `${path}.*`)
      : []),
  ];
}

const KEEPS_ALL: JsonSchema = { 'x-kubernetes-preserve-unknown-fields': true };

/** The schema of fields that `properties` does not name; undefined if such fields are dropped. */
function extraOf(published: JsonSchema): JsonSchema | undefined {
  if (published['x-kubernetes-preserve-unknown-fields'] === true) return KEEPS_ALL;
  const { additionalProperties } = published;
  return isSchema(additionalProperties) ? additionalProperties : additionalProperties === true ? KEEPS_ALL : undefined;
}

function isSchema(value: JsonSchema | boolean | undefined): value is JsonSchema {
  return typeof value === 'object';
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields of `before` that `after` lacks: paths such as `spec.nodeSelector` and `spec.capacity[].value`, each once. If
 * a whole object is missing, only its own path is returned. A field with another value is not missing. Lists of another
 * length are not compared: their entries cannot be matched.
 *
 * @param path of both values
 */
export function lostFields(before: unknown, after: unknown, path: string): string[] {
  if (before === undefined) return [];
  if (after === undefined) return [path];
  if (Array.isArray(before)) {
    if (!Array.isArray(after) || before.length !== after.length) return [];
    return [...new Set(before.flatMap((entry, place) => lostFields(entry, after[place], `${path}[]`)))];
  }
  if (!isFields(before) || !isFields(after)) return [];
  return Object.entries(before).flatMap(([name, value]) => lostFields(value, after[name], `${path}.${name}`));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
