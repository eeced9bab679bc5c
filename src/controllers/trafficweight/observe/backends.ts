import { parseTrafficWeightSpec } from '../../../api/trafficweight/schema.ts';
import { DEFAULT_REGION, DEFAULT_TABLE } from '../../../api/trafficweight/terms.ts';
import type { TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import type { DynamoDbOptions } from '../../../weights/backend/dynamoDb.ts';
import type { BackendOf } from './backendFeed.ts';

/** The tables that TrafficWeights name. @param endpointUrl in place of AWS' own */
export function tablesOf(
  weights: readonly TrafficWeight[],
  endpointUrl: string | undefined,
): BackendOf<DynamoDbOptions>[] {
  return weights.flatMap((weight) => {
    const parsed = parseTrafficWeightSpec(weight);
    if ('problems' in parsed) return [];
    const { clusterName, backend } = parsed.spec;
    if (backend.dynamodb === undefined) return [];
    const { tableName = DEFAULT_TABLE, region = DEFAULT_REGION, initialWeight = 0 } = backend.dynamodb;
    const options = { tableName, region, endpointUrl, clusterName, initialWeight };
    return [{ name: weight.metadata?.name ?? '', options }];
  });
}
