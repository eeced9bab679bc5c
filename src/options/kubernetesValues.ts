import * as z from 'zod';
import { quantityOf } from '../runtime/apply/quantity.ts';
import { prometheusDuration } from '../runtime/process/duration.ts';
import { valueType, type ValueType } from './values.ts';

/** A label name and value: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/. */
const LABEL =
  /^((?:[a-z0-9][a-z0-9.-]{0,252}\/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)=((?:[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)?)$/;

/** A quantity without a sign. */
function isAmount(text: string): boolean {
  return !/^[+-]/.test(text) && quantityOf(text) !== undefined;
}

/** Kubernetes quantities by resource name. Accepts numbers, because a quantity can be a number in YAML, and so in the values of the chart. */
const quantities = z.record(z.string().min(1), z.union([z.string(), z.number()]).transform(String).refine(isAmount));
const resourcesSchema = z.strictObject({ requests: quantities.exactOptional(), limits: quantities.exactOptional() });
const tolerationSchema = z.strictObject({
  key: z.string().exactOptional(),
  operator: z.enum(['Exists', 'Equal']).exactOptional(),
  value: z.string().exactOptional(),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).exactOptional(),
  tolerationSeconds: z.int().exactOptional(),
});
const withValues = (operators: readonly string[], values: z.ZodType<string[]>) =>
  z.strictObject({ key: z.string().min(1), operator: z.enum(operators), values });
const requirementSchema = z.union([
  withValues(['In', 'NotIn'], z.array(z.string()).min(1)),
  withValues(['Gt', 'Lt'], z.array(z.string().regex(/^-?\d+$/)).length(1)),
  z.strictObject({ key: z.string().min(1), operator: z.enum(['Exists', 'DoesNotExist']) }),
]);
const termSchema = z.strictObject({ matchExpressions: z.array(requirementSchema).min(1) });
const requiredSchema = z.strictObject({ nodeSelectorTerms: z.array(termSchema).min(1) });
const affinitySchema = z.strictObject({
  nodeAffinity: z.strictObject({ requiredDuringSchedulingIgnoredDuringExecution: requiredSchema }),
});

export const resources: ValueType<z.infer<typeof resourcesSchema>> = valueType(
  'json',
  'JSON of requests and limits in Kubernetes quantities, such as {"requests":{"cpu":"100m"},"limits":{"memory":"2Gi"}}',
  (text) => fromJson(text, resourcesSchema),
);

export const tolerations: ValueType<z.infer<typeof tolerationSchema>[]> = valueType(
  'json',
  'a JSON list of Kubernetes tolerations, such as [{"key":"infra","operator":"Exists","effect":"NoSchedule"}]',
  (text) => fromJson(text, z.array(tolerationSchema)),
);

export const nodeAffinity: ValueType<z.infer<typeof affinitySchema>> = valueType(
  'json',
  'JSON of a required node affinity, such as {"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"pool","operator":"NotIn","values":["edge"]}]}]}}}',
  (text) => fromJson(text, affinitySchema),
);

/** A name and a value. */
type Pair = readonly [string, string];

/** A label that a node must have. */
export const nodeLabel = labelType('a node label such as pool=infra');

/** A label of an object. */
export const label = labelType('a label such as team=network');

/** An annotation of an object: a key as of a label, and any text. */
export const annotation: ValueType<Pair> = valueType('name=value', 'an annotation such as team=network', (text) => {
  const [name = '', ...value] = text.split('=');
  return value.length > 0 && LABEL.test(`${name}=`) ? [name, value.join('=')] : undefined;
});

function labelType(example: string): ValueType<Pair> {
  return valueType('name=value', example, (text) => {
    const [, name, value] = LABEL.exec(text) ?? [];
    return name === undefined || value === undefined ? undefined : ([name, value] as const);
  });
}

/** The key of a label. */
export const labelKey = valueType('key', 'a label key such as karpenter.k8s.aws/instance-network-bandwidth', (text) =>
  LABEL.test(`${text}=`) ? text : undefined,
);

/** A Kubernetes quantity of bytes, as text. */
export const volumeSize = valueType('quantity', 'a Kubernetes quantity of 1Gi at least, such as 10Gi', (text) =>
  isAmount(text) && (quantityOf(text) ?? 0) >= 2 ** 30 ? text : undefined,
);

/** Retention time of Prometheus, in its notation. */
export const retention = valueType(
  'duration',
  "a duration in Prometheus' notation such as 24h or 15d, 2h at least",
  (text) => ((prometheusDuration(text) ?? 0) >= 7_200_000 ? text : undefined),
);

/** Retention size of Prometheus, in its notation. Units are powers of two. */
export const retentionSize = valueType('size', "a size in Prometheus' notation such as 512MB or 8GB", (text) =>
  /^[1-9]\d*(KB|MB|GB|TB)$/.test(text) ? text : undefined,
);

function fromJson<T>(text: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
