import { specSchema } from '../../api/trafficweight/specSchema.ts';
import type { TrafficWeightSpec } from '../../api/trafficweight/trafficWeight.ts';
import type { FlagProblem } from '../../options/flagTable.ts';
import type { WeightsFlags } from './flags.ts';

type Key = keyof WeightsFlags;

/** The flags that have other names than the fields of a spec. */
const FLAG_OF: Readonly<Record<string, Key>> = {
  healthCheckID: 'awsHealthCheckId',
  region: 'awsRegion',
  weight: 'initialWeight',
};

/** The spec that the flags describe. */
export function specOf(flags: WeightsFlags): TrafficWeightSpec {
  const { clusterName = '', bindingDomain, annotationFilter, annotationPrefix, awsHealthCheckId, acknowledge } = flags;
  return {
    ...{ clusterName, annotationPrefix, acknowledge, backend: backendOf(flags) },
    ...(bindingDomain !== undefined && { bindingDomain: domainOf(bindingDomain) }),
    ...(annotationFilter !== undefined && { annotationFilter }),
    ...(awsHealthCheckId !== undefined && { healthCheckID: awsHealthCheckId }),
  };
}

/** The first flag whose value no TrafficWeight may have, or undefined. */
export function specProblem(flags: WeightsFlags): FlagProblem<Key> | undefined {
  if (flags.clusterName === undefined) return { key: 'clusterName', message: 'is required: the name of this cluster' };
  const { error } = specSchema.safeParse(specOf(flags));
  const [issue] = error?.issues ?? [];
  if (issue === undefined) return undefined;
  const field = String(issue.path.at(-1));
  return { key: FLAG_OF[field] ?? (field as Key), message: issue.message };
}

function backendOf({ backendType, initialWeight, tableName, awsRegion }: WeightsFlags): TrafficWeightSpec['backend'] {
  if (backendType === 'fake') return { static: { weight: initialWeight } };
  return { dynamodb: { tableName, region: awsRegion, initialWeight } };
}

/** The original compares the end of a host with this text, so that a leading dot is usual. */
function domainOf(text: string): string {
  return text.toLowerCase().replace(/^[.]/, '').replace(/[.]$/, '');
}
