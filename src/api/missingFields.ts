import type { V1DeploymentSpec } from '@kubernetes/client-node';
import type { JsonSchema } from '../runtime/client/openApi.ts';
import { openApiSchema } from './crd.ts';
import { trafficWatchSchema } from './trafficwatch/schema.ts';

/** The part of a pod template that a schema may lack though it has the template: https://book.kubebuilder.io/reference/generating-crd */
const TEMPLATE: JsonSchema = {
  properties: { metadata: { properties: { labels: {}, annotations: {} } }, spec: { properties: { affinity: {} } } },
};

/** Every field of the workload's spec; what is in the template beyond is the business of Kubernetes' own versions. */
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

/** Fields that the API server keeps whatever the schema says. */
const ALWAYS_KEPT: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * The fields of a TrafficWatch that the API server drops, since the CRD that is installed does not have them: it is
 * older than this operator. Paths such as `spec.label` and `status.nodes.*.verdict`; of a field that is missing as a
 * whole, only itself.
 */
export function missingFields(published: JsonSchema): string[] {
  const needed = openApiSchema(trafficWatchSchema, { properties: DEPLOYMENT }) as JsonSchema;
  return Object.entries(needed.properties ?? {})
    .filter(([name]) => !ALWAYS_KEPT.has(name))
    .flatMap(([name, schema]) => lacking(schema, published, name, name));
}

/** What of the field `name` is not kept in an object of the schema `published`. */
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

/** The schema of the fields that are not named one by one; undefined where those are dropped. */
function extraOf(published: JsonSchema): JsonSchema | undefined {
  if (published['x-kubernetes-preserve-unknown-fields'] === true) return KEEPS_ALL;
  const { additionalProperties } = published;
  return isSchema(additionalProperties) ? additionalProperties : additionalProperties === true ? KEEPS_ALL : undefined;
}

function isSchema(value: JsonSchema | boolean | undefined): value is JsonSchema {
  return typeof value === 'object';
}
