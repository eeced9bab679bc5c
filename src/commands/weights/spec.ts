import { createHash } from 'node:crypto';
import { specSchema } from '../../api/trafficweight/specSchema.ts';
import type { TrafficWeightSpec } from '../../api/trafficweight/trafficWeight.ts';
import type { FlagProblem } from '../../options/flagTable.ts';
import type { WeightsFlags } from './flags.ts';

type Key = keyof WeightsFlags;

/** Hexadecimal digits of a hash in a name. */
const NAME_DIGITS = 8;

/** The flags that have other names than the fields of a spec. */
const FLAG_OF: Readonly<Record<string, Key>> = {
  healthCheckID: 'awsHealthCheckId',
  region: 'awsRegion',
  weight: 'initialWeight',
  hostedZoneIDs: 'hostedZoneIds',
};

/** The spec that the flags describe. */
export function specOf(flags: WeightsFlags): TrafficWeightSpec {
  const { clusterName = '', annotationFilter, annotationPrefix, awsHealthCheckId, acknowledge } = flags;
  const bindingDomain = flags.bindingDomain?.toLowerCase().replace(/[.]$/, '');
  return {
    ...{ clusterName, acknowledge, backend: backendOf(flags) },
    ...(bindingDomain !== undefined && { bindingDomain }),
    ...(annotationFilter !== undefined && { annotationFilter }),
    ...(annotationPrefix !== undefined && { annotationPrefix }),
    ...(awsHealthCheckId !== undefined && { healthCheckID: awsHealthCheckId }),
    ...(flags.hostedZoneIds !== undefined && { hostedZoneIDs: [...new Set(flags.hostedZoneIds.split(','))] }),
  };
}

/**
 * The name of the TrafficWeight that the flags stand for: another one for another selection of Ingresses. Two Deployments with
 * different filters in one cluster would otherwise take each other's DNSEndpoints for their own, and remove them.
 */
export function nameOf({ clusterName, bindingDomain = '', annotationFilter = '' }: TrafficWeightSpec): string {
  const selection = JSON.stringify([clusterName, bindingDomain, annotationFilter]);
  return `weights-${createHash('sha256').update(selection).digest('hex').slice(0, NAME_DIGITS)}`;
}

/** The first flag whose value no TrafficWeight may have, or undefined. */
export function specProblem(flags: WeightsFlags): FlagProblem<Key> | undefined {
  if (flags.clusterName === undefined) return { key: 'clusterName', message: 'is required: the name of this cluster' };
  const { error } = specSchema.safeParse(specOf(flags));
  const [issue] = error?.issues ?? [];
  if (issue === undefined) return undefined;
  // The last one may be a place in a list.
  const field = issue.path.findLast((part) => typeof part === 'string') ?? '';
  return { key: FLAG_OF[field] ?? (field as Key), message: issue.message };
}

function backendOf({
  backendType,
  initialWeight,
  tableName,
  awsRegion,
  allowAllZero,
}: WeightsFlags): TrafficWeightSpec['backend'] {
  if (backendType === 'fake') return { static: { weight: initialWeight } };
  const table = {
    ...(tableName !== undefined && { tableName }),
    ...(awsRegion !== undefined && { region: awsRegion }),
  };
  return { dynamodb: { ...table, initialWeight, ...(allowAllZero && { allowAllZero }) } };
}
